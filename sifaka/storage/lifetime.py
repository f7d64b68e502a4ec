"""The time that a store keeps a run after its last entry."""

import math

from sifaka._internal.durations import parse_duration
from sifaka.errors import ConfigurationError

_SHORTEST = 0.001
_LONGEST = 100 * 366 * 86_400.0


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
