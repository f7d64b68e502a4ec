"""Moments as whole microseconds: numbers that sort as time does and lose nothing."""

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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
