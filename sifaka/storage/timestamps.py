"""Moments as whole microseconds, which sort as time does and lose nothing, and times to live."""

import math
import time
from datetime import UTC, datetime, timedelta

from sifaka._internal.durations import parse_duration
from sifaka.errors import ConfigurationError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SHORTEST = 0.001
_LONGEST = 100 * 366 * 86_400.0


def to_microseconds(moment: datetime) -> int:
    """Microseconds since 1970-01-01 UTC; a moment without a zone counts as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def now_in_microseconds() -> int:
    """This moment."""
    return time.time_ns() // 1000


def from_microseconds(count: int) -> datetime:
    """The moment, in UTC."""
    return _EPOCH + count * _MICROSECOND


def parse_ttl(text: str) -> float:
    """The seconds that an option of a URL says: `7d`, `12h`, `30m`, or `3600`."""
    duration = parse_duration(f"{text}s" if text.isdecimal() and text.isascii() else text)
    if duration is None:
        raise ConfigurationError(f"{text!r} is not a time to live", "write 7d, 12h, 30m or 3600")
    return checked_ttl(duration.total_seconds())


def checked_ttl(ttl: float) -> float:
    """The same seconds.

    Raises:
        ConfigurationError: Nothing can live for as long.
    """
    if not (math.isfinite(ttl) and _SHORTEST <= ttl <= _LONGEST):
        raise ConfigurationError(
            f"{ttl!r} seconds are no time to live", "allowed: more than 0, at most 100 years"
        )
    return ttl
