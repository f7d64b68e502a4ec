"""Rules made of patterns, each match of which is decided by itself."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue
from sifaka.text.tables import Row, table

Decision = Callable[[ParsedText, re.Match[str]], Iterator[Issue]]

_WORD = r"\b"
_NAMED = re.compile(r"\?P<\w+>")
_HEAD = re.compile(r"\(\?(?::|<!)[^()]*\)(?![?*+{])")
"""A group that a pattern begins with."""


@dataclass(frozen=True, eq=False)
class PatternRule:
    """Finds the issues of the matches that a rule about English may examine."""

    decisions: Sequence[tuple[re.Pattern[str], Decision]]

    @classmethod
    def of(cls, group: str, **decide: Decision) -> "PatternRule":
        """The rule of a group of `patterns.toml`, by the functions that its rows name."""
        rows = table(__file__, "patterns")[group]
        named = (decide[row["decide"]] if "decide" in row else _replacing(row) for row in rows)
        return cls([(re.compile(r["pattern"]), d) for r, d in zip(rows, named, strict=True)])

    @cached_property
    def _at_words(self) -> re.Pattern[str]:
        """Where any pattern that begins at a word matches: one search for all of them.

        Those that begin with the same group share it.
        """
        rests: dict[str, list[str]] = {}
        for pattern, _ in self.decisions:
            if pattern.pattern.startswith(_WORD):
                rest = _NAMED.sub("?:", pattern.pattern.removeprefix(_WORD))
                head = found.group() if (found := _HEAD.match(rest)) else ""
                rests.setdefault(head, []).append(rest.removeprefix(head))
        ways = "|".join(f"{head}(?:{'|'.join(tails)})" for head, tails in rests.items())
        return re.compile(rf"{_WORD}(?=\w)(?={ways})")

    def __call__(self, parsed: ParsedText) -> Iterator[Issue]:
        """The issues, pattern by pattern."""
        text = parsed.text
        words: Sequence[int] | None = None
        for pattern, decide in self.decisions:
            matches: Iterable[re.Match[str] | None]
            if not pattern.pattern.startswith(_WORD):
                matches = pattern.finditer(text)
            else:
                if words is None:
                    words = [match.start() for match in self._at_words.finditer(text)]
                matches = [pattern.match(text, place) for place in words]
            end = 0
            for match in matches:
                if match is None or match.start() < end:
                    continue
                end = match.end()
                for issue in decide(parsed, match):
                    # Asked last: to know the reserved parts of a text is the dearer question.
                    if parsed.free(*match.span()):
                        yield issue


def _replacing(row: Row) -> Decision:
    """Puts the fix of a row in the place of the group `noun`."""

    def decide(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
        yield parsed.instead(match.span("noun"), match.expand(row["fix"]), row["rule"])

    return decide
