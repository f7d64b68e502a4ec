"""Until when runs are kept."""

from datetime import UTC, datetime, timedelta

from sifaka.storage.timestamps import to_microseconds


def now() -> int:
    """This moment in microseconds."""
    return to_microseconds(datetime.now(UTC))


def expiry(ttl: timedelta | None) -> int | None:
    """The moment at which a run that is written to now is gone; None for never."""
    return None if ttl is None else now() + ttl // timedelta(microseconds=1)
