"""Places in a text that are closed to rules."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sifaka.text.prose import Span


@dataclass(frozen=True)
class Cover:
    """A merged set of spans that answers quickly whether a place is free of them."""

    spans: Sequence[Span]

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _ in self.spans]

    def touches(self, start: int, end: int) -> bool:
        """True when `start:end` shares a character with a span, or is an insertion inside one."""
        if not self.spans:
            return False
        # The last span that starts before the place ends; earlier ones end before it starts.
        index = bisect_right(self._starts, max(end - 1, start)) - 1
        if index < 0:
            return False
        span_start, span_end = self.spans[index]
        return span_end > start if end > start else span_start < start < span_end
