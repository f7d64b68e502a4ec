"""Appending, loading and listing runs: the SQL of it."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from sifaka.entries import Drafted, Entry, RunStatus, StopReason
from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.run import Run, RunSummary
from sifaka.storage.cursor import Position, decode_cursor, encode_cursor
from sifaka.storage.entry_json import encode_entries, replay_run
from sifaka.storage.protocol import RunPage
from sifaka.storage.sqlite_connection import Connection, transaction
from sifaka.storage.sqlite_search import index_version
from sifaka.storage.timestamps import from_microseconds, to_microseconds


def append_entries(
    connection: Connection,
    tenant: str,
    run: Run,
    entries: Sequence[Entry],
    expected_version: int,
) -> None:
    """Append in one transaction, or find that it was done before."""
    payloads = encode_entries(run, entries, expected_version)
    with transaction(connection, "IMMEDIATE"):
        found = _version(connection, tenant, run.run_id)
        if found != expected_version:
            end = expected_version + len(payloads)
            if found >= end and _held(connection, tenant, run.run_id, expected_version, end) == (
                payloads
            ):
                return
            raise VersionConflict(run.run_id, expected=expected_version, found=found)
        _write_summary(connection, tenant, run)
        numbered = enumerate(zip(entries, payloads, strict=True), expected_version + 1)
        for seq, (entry, payload) in numbered:
            connection.execute(
                "INSERT INTO entries (tenant, run_id, seq, payload) VALUES (?, ?, ?, ?)",
                (tenant, run.run_id, seq, payload),
            )
            if isinstance(entry, Drafted):
                index_version(connection, tenant, run, seq, entry.thought.text)


def load_run(connection: Connection, tenant: str, run_id: str) -> Run:
    """The run, folded from its entries while they are read."""
    # As bytes: damaged text is then reported with the entry it is in.
    rows = connection.execute(
        """
        SELECT seq, CAST(payload AS BLOB) FROM entries
        WHERE tenant = ? AND run_id = ? ORDER BY seq
        """,
        (tenant, run_id),
    )
    first = rows.fetchone()
    if first is None:
        raise ThoughtNotFound(run_id)

    def payloads() -> Iterator[bytes]:
        row = first
        expected = 0
        while row is not None:
            expected += 1
            seq, payload = cast("tuple[int, bytes]", row)
            if seq != expected:
                raise StorageError(
                    f"entry {expected} of run {run_id!r} is missing",
                    "restore the file from a backup; other runs are not affected",
                )
            yield payload
            row = rows.fetchone()

    return replay_run(run_id, payloads())


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


def _version(connection: Connection, tenant: str, run_id: str) -> int:
    row = connection.execute(
        "SELECT version FROM runs WHERE tenant = ? AND run_id = ?", (tenant, run_id)
    ).fetchone()
    return cast("int", row[0]) if row else 0


def _held(
    connection: Connection, tenant: str, run_id: str, after: int, until: int
) -> tuple[str, ...]:
    rows = connection.execute(
        """
        SELECT payload FROM entries
        WHERE tenant = ? AND run_id = ? AND seq > ? AND seq <= ? ORDER BY seq
        """,
        (tenant, run_id, after, until),
    )
    return tuple(cast("str", payload) for (payload,) in rows)


def _write_summary(connection: Connection, tenant: str, run: Run) -> None:
    line = run.summary()
    connection.execute(
        """
        INSERT INTO runs (tenant, run_id, version, status, passed, stop_reason, iterations,
                          excerpt, created_at, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (tenant, run_id) DO UPDATE SET
            version = excluded.version, status = excluded.status, passed = excluded.passed,
            stop_reason = excluded.stop_reason, iterations = excluded.iterations,
            excerpt = excluded.excerpt, updated_at = excluded.updated_at
        """,
        (
            tenant,
            run.run_id,
            run.version,
            line.status,
            line.passed,
            line.stop_reason,
            line.iterations,
            line.excerpt,
            to_microseconds(line.created_at),
            to_microseconds(line.updated_at),
        ),
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
