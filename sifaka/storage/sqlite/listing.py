"""The list of runs: the SQL of it."""

from typing import Any, cast

from sifaka.entries import RunStatus, StopReason
from sifaka.run import RunSummary
from sifaka.storage.cursor import Position, decode_cursor, encode_cursor
from sifaka.storage.protocol import RunPage
from sifaka.storage.sqlite.connection import Connection
from sifaka.storage.timestamps import from_microseconds, to_microseconds


def list_recent(connection: Connection, tenant: str, limit: int, cursor: str | None) -> RunPage:
    """One page of runs, found by their place in the order and not by counting."""
    key = cast("bytes", connection.execute("SELECT cursor_key FROM store").get)
    updated_at, run_id = decode_cursor(key, tenant, cursor)
    rows = connection.execute(
        """
        SELECT run_id, status, passed, stop_reason, iterations, excerpt, created_at, updated_at
        FROM runs WHERE tenant = ? AND (updated_at, run_id) < (?, ?)
        ORDER BY updated_at DESC, run_id DESC LIMIT ?
        """,
        (tenant, updated_at, run_id, limit + 1),
    ).fetchall()
    page = tuple(_summary(row) for row in rows[:limit])
    more = page and len(rows) > limit
    return RunPage(
        runs=page, next_cursor=encode_cursor(key, tenant, _position(page[-1])) if more else None
    )


def _summary(row: tuple[Any, ...]) -> RunSummary:
    run_id, status, passed, stop_reason, iterations, excerpt, created_at, updated_at = cast(
        "tuple[str, RunStatus, int, StopReason | None, int, str, int, int]", row
    )
    return RunSummary(
        run_id=run_id,
        status=status,
        passed=bool(passed),
        stop_reason=stop_reason,
        iterations=iterations,
        excerpt=excerpt,
        created_at=from_microseconds(created_at),
        updated_at=from_microseconds(updated_at),
    )


def _position(line: RunSummary) -> Position:
    return to_microseconds(line.updated_at), line.run_id
