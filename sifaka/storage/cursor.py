"""Moments as stores keep them, and page cursors: where the next page of recent runs begins."""

import base64
import json
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import Field, TypeAdapter

from sifaka.errors import ConfigurationError
from sifaka.record.run import Run, RunSummary
from sifaka.storage.protocol import RunPage

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


Position = tuple[Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)], str]
"""A run's place in the list: microseconds of its last entry, then its id."""
NEWEST: Position = (2**63 - 1, "")
"""The place before the newest run."""
_POSITION: TypeAdapter[Position] = TypeAdapter(Position)


def position(run: Run | RunSummary) -> Position:
    """A run's place in a list of recent ones."""
    return to_microseconds(run.updated_at), run.run_id


def encode_cursor(position: Position) -> str:
    """The position as text that is safe in a URL."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> Position:
    """The position that a cursor stands for; `NEWEST` for None.

    It says where a list goes on and nothing about whose: a list is its tenant's, whatever cursor
    it is given.

    Raises:
        ConfigurationError: It is not what `encode_cursor` makes.
    """
    if cursor is None:
        return NEWEST
    try:
        start = _POSITION.validate_json(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if encode_cursor(start) == cursor:
            return start
    except ValueError:
        pass
    raise ConfigurationError(
        f"{cursor[:80]!r} is not a cursor of a list of runs", "list again without a cursor"
    )


def page_of(lines: Iterable[RunSummary], *, limit: int, cursor: str | None) -> RunPage:
    """A page of lines that are all at hand, in any order."""
    start = decode_cursor(cursor)
    behind = (line for line in lines if position(line) < start)
    return cut_page(sorted(behind, key=position, reverse=True), limit=limit)


def cut_page(lines: Sequence[RunSummary], *, limit: int) -> RunPage:
    """The first lines of a list that is newest first, with a cursor if there are more."""
    page = tuple(lines[:limit])
    more = page and len(lines) > limit
    return RunPage(runs=page, next_cursor=encode_cursor(position(page[-1])) if more else None)
