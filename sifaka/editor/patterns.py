"""Rules made of patterns, each match of which is decided by itself."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue

Decision = Callable[[ParsedText, re.Match[str]], Iterator[Issue]]


@dataclass(frozen=True, slots=True)
class PatternRule:
    """Finds the issues of the matches that a rule about English may examine."""

    decisions: Sequence[tuple[re.Pattern[str], Decision]]

    def __call__(self, parsed: ParsedText) -> Iterator[Issue]:
        """The issues, pattern by pattern."""
        for pattern, decide in self.decisions:
            for match in pattern.finditer(parsed.text):
                for issue in decide(parsed, match):
                    # Asked last: to know the reserved parts of a text is the dearer question.
                    if parsed.free(*match.span()):
                        yield issue
