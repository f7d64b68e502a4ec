"""The list of runs: the SQL of it."""

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, cast

from sifaka.record.run import RunSummary
from sifaka.storage.cursor import decode_cursor, encode_cursor, position
from sifaka.storage.protocol import RunPage
from sifaka.storage.sqlite.connection import UNREADABLE, Connection
from sifaka.storage.timestamps import from_microseconds

logger = logging.getLogger(__name__)


def list_recent(connection: Connection, tenant: str, limit: int, cursor: str | None) -> RunPage:
    """One page of runs, found by their place in the order and not by counting."""
    key = cast("bytes", connection.execute("SELECT cursor_key FROM store").get)
    updated_at, run_id = decode_cursor(key, tenant, cursor)
    # As bytes, because text may be damaged; without a limit, because some may be left out.
    rows = connection.execute(
        """
        SELECT CAST(run_id AS BLOB), CAST(status AS BLOB), CAST(passed AS BLOB),
               CAST(stop_reason AS BLOB), CAST(iterations AS BLOB), CAST(excerpt AS BLOB),
               CAST(created_at AS BLOB), CAST(updated_at AS BLOB)
        FROM runs WHERE tenant = ? AND (updated_at, run_id) < (?, ?)
        ORDER BY updated_at DESC, run_id DESC
        """,
        (tenant, updated_at, run_id),
    )
    lines = tuple(islice(_readable(rows), limit + 1))
    page = lines[:limit]
    more = page and len(lines) > limit
    return RunPage(
        runs=page, next_cursor=encode_cursor(key, tenant, position(page[-1])) if more else None
    )


def _readable(rows: Iterable[tuple[Any, ...]]) -> Iterator[RunSummary]:
    for row in rows:
        try:
            yield _summary(row)
        except UNREADABLE:
            logger.warning("run %r cannot be read and was left out of a list", row[0])


def _summary(row: tuple[Any, ...]) -> RunSummary:
    run_id, status, passed, stop_reason, iterations, excerpt, created_at, updated_at = row
    return RunSummary(
        run_id=run_id.decode(),
        status=status.decode(),
        passed=bool(int(passed)),
        stop_reason=None if stop_reason is None else stop_reason.decode(),
        iterations=int(iterations),
        excerpt=excerpt.decode(),
        created_at=from_microseconds(int(created_at)),
        updated_at=from_microseconds(int(updated_at)),
    )
