"""Rules made of patterns, each match of which is decided by itself."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue

Decision = Callable[[ParsedText, re.Match[str]], Iterator[Issue]]

_WORD = r"\b"
_NAMED = re.compile(r"\?P<\w+>")


@dataclass(frozen=True)
class PatternRule:
    """Finds the issues of the matches that a rule about English may examine."""

    decisions: Sequence[tuple[re.Pattern[str], Decision]]

    @cached_property
    def _at_words(self) -> re.Pattern[str]:
        """Where any pattern that begins at a word matches: one search for all of them."""
        found = (pattern.pattern for pattern, _ in self.decisions if _begins_at_word(pattern))
        rests = "|".join(_NAMED.sub("?:", source.removeprefix(_WORD)) for source in found)
        return re.compile(f"{_WORD}(?={rests})")

    def __call__(self, parsed: ParsedText) -> Iterator[Issue]:
        """The issues, pattern by pattern."""
        text = parsed.text
        places = None
        for pattern, decide in self.decisions:
            if not _begins_at_word(pattern):
                matches = pattern.finditer(text)
            else:
                if places is None:
                    places = [match.start() for match in self._at_words.finditer(text)]
                matches = _matches(pattern, text, places) if places else ()
            for match in matches:
                for issue in decide(parsed, match):
                    # Asked last: to know the reserved parts of a text is the dearer question.
                    if parsed.free(*match.span()):
                        yield issue


def _begins_at_word(pattern: re.Pattern[str]) -> bool:
    return pattern.pattern.startswith(_WORD) and pattern.flags == re.UNICODE


def _matches(pattern: re.Pattern[str], text: str, places: Sequence[int]) -> Iterator[re.Match[str]]:
    """What `finditer` finds, given every place where a match can begin."""
    end = 0
    for place in places:
        if place >= end and (match := pattern.match(text, place)):
            yield match
            end = match.end()
