"""Rules made of patterns, each match of which is decided by itself."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue

Decision = Callable[[ParsedText, re.Match[str]], Iterator[Issue]]


@dataclass(frozen=True, slots=True)
class PatternRule:
    """Finds the issues of the matches that a rule about English may examine."""

    decisions: Sequence[tuple[re.Pattern[str], Decision]]
    first: frozenset[str] | None = None
    """The words, in lower case, that all matches begin with; None where there is no end of them."""

    def __call__(self, parsed: ParsedText) -> Iterator[Issue]:
        """The issues, pattern by pattern."""
        for pattern, decide in self.decisions:
            for match in self._matches(pattern, parsed):
                for issue in decide(parsed, match):
                    # Asked last: to know the reserved parts of a text is the dearer question.
                    if parsed.free(*match.span()):
                        yield issue

    def _matches(self, pattern: re.Pattern[str], parsed: ParsedText) -> Iterator[re.Match[str]]:
        if self.first is None:
            yield from pattern.finditer(parsed.text)
            return
        end = 0
        for word in sorted(chain.from_iterable(map(parsed.words.get, self.first, repeat(())))):
            if word >= end and (match := pattern.match(parsed.text, word)):
                end = match.end()
                yield match
