"""Moments as stores keep them, and page cursors: where the next page of recent runs begins."""

import base64
import hmac
import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from sifaka._internal.durations import parse_duration
from sifaka.errors import ConfigurationError
from sifaka.record.run import Run, RunSummary
from sifaka.storage.log import RunPage

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


Position = tuple[int, str]
"""A run's place in the list: microseconds of its last entry, then its id."""
NEWEST: Position = (2**63 - 1, "")
"""The place before the newest run."""
_MAC_BYTES = 8


def position(run: Run | RunSummary) -> Position:
    """A run's place in a list of recent ones."""
    return to_microseconds(run.updated_at), run.run_id


def encode_cursor(key: bytes, tenant: str, position: Position) -> str:
    """The position as text that is safe in a URL, sealed for one store and one tenant."""
    return _sealed(key, tenant, json.dumps(position).encode())


def decode_cursor(key: bytes, tenant: str, cursor: str | None) -> Position:
    """The position that a cursor stands for; `NEWEST` for None.

    Raises:
        ConfigurationError: It was not made by `encode_cursor` with this key and tenant.
    """
    if cursor is None:
        return NEWEST
    try:
        body = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))[_MAC_BYTES:]
    except ValueError:
        body = b""
    if cursor != _sealed(key, tenant, body):
        raise ConfigurationError(
            f"{cursor[:80]!r} is not a cursor of this list", "list again without a cursor"
        )
    updated_at, run_id = cast("tuple[int, str]", json.loads(body))
    return updated_at, run_id


def page_of(
    lines: Iterable[RunSummary],
    key: Callable[[], bytes],
    tenant: str,
    *,
    limit: int,
    cursor: str | None,
) -> RunPage:
    """A page of lines that are all at hand, in any order.

    The key seals cursors, and is asked for only when there is one.
    """
    start = decode_cursor(key(), tenant, cursor) if cursor is not None else NEWEST
    behind = (line for line in lines if position(line) < start)
    return cut_page(sorted(behind, key=position, reverse=True), key, tenant, limit=limit)


def cut_page(
    lines: Sequence[RunSummary], key: Callable[[], bytes], tenant: str, *, limit: int
) -> RunPage:
    """The first lines of a list that is newest first, with a cursor if there are more."""
    page = tuple(lines[:limit])
    more = page and len(lines) > limit
    return RunPage(
        runs=page,
        next_cursor=encode_cursor(key(), tenant, position(page[-1])) if more else None,
    )


def _sealed(key: bytes, tenant: str, body: bytes) -> str:
    # Sealed because a cursor comes back from outside: one that was cut, edited or taken from
    # another list would silently skip runs.
    seal = hmac.digest(key, tenant.encode() + b"\0" + body, "sha256")[:_MAC_BYTES]
    return base64.urlsafe_b64encode(seal + body).decode().rstrip("=")
