"""How often, and after what time, a source is asked again."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from sifaka.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """Exponential backoff with full jitter, or what the source asks for."""

    attempts: int = 3
    """Requests in all."""
    first: float = 0.5
    """Seconds at most before the second attempt; twice as many before each further one."""
    longest: float = 30.0
    """Seconds a source may ask to wait; what asks for more is not asked again."""
    uniform: Callable[[float, float], float] = random.uniform
    """A random number between two."""

    def wait(self, failure: SourceError, attempt: int) -> float | None:
        """Seconds until the next attempt; None when there is to be none.

        Args:
            failure: What went wrong.
            attempt: How many attempts have been made.
        """
        if not failure.retryable or attempt >= self.attempts:
            return None
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= self.longest else None
        return self.uniform(0.0, self.first * 2 ** (attempt - 1))


def seconds_asked(told: str | None) -> float | None:
    """What the header `Retry-After` asks for, in seconds from now; None when it says nothing."""
    text = (told or "").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
