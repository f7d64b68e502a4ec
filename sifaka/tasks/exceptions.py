"""Comments in a text that switch rules off: for a line, or from one line to another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sifaka.errors import ConfigurationError
from sifaka.tasks.rules import ALL, covers, known_name

_COMMENT = re.compile(
    r"(?P<open><!--|\{/\*|\{#|^[ \t]*(?:\.\.|//|%+|\#))[ \t]*sifaka:[ \t]*"
    r"(?P<word>ignore|off|on)\b[ \t]*(?P<names>[\w., \t-]*?)[ \t]*(?:-->|\*/\}|\#\}|$)",
    re.MULTILINE,
)
_LAST = 1 << 60


@dataclass(frozen=True, slots=True)
class RuleException:
    """The lines in which some rules are off."""

    first: int
    last: int
    rules: frozenset[str]

    def covers(self, line: int, rule: str) -> bool:
        """True when the findings of a rule in this line are not wanted."""
        return self.first <= line <= self.last and covers(self.rules, rule)


@dataclass(frozen=True, slots=True)
class UnknownRule:
    """A comment that names a rule which does not exist, and so does nothing."""

    line: int
    message: str


def exceptions(text: str) -> Iterator[RuleException | UnknownRule]:
    """What the comments of a text switch off.

    `sifaka: ignore RULES` holds for its line, and for the next one with words when it stands alone;
    `sifaka: off RULES` until `sifaka: on` or the end. Without rules all of them are meant.
    """
    if "sifaka:" not in text:
        return
    began: tuple[int, frozenset[str]] | None = None
    line, at = 1, 0
    for match in _COMMENT.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        try:
            names = frozenset(known_name(name) for name in re.findall(r"[\w.-]+", match["names"]))
        except ConfigurationError as error:
            yield UnknownRule(line, str(error))
            continue
        if match["word"] == "ignore":
            yield RuleException(line, _reach(text, match, line), names or frozenset({ALL}))
            continue
        if began:
            yield RuleException(began[0], line, began[1])
        began = (line, names or frozenset({ALL})) if match["word"] == "off" else None
    if began:
        yield RuleException(began[0], _LAST, began[1])


def _reach(text: str, match: re.Match[str], line: int) -> int:
    """The last line that a comment holds for."""
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    rest = text[match.end() : end] if end >= 0 else text[match.end() :]
    if text[start : match.start()].strip() or rest.strip():
        return line
    blank = re.compile(r"\s*").match(text, match.end())
    return line + (text.count("\n", match.end(), blank.end()) if blank else 0)
