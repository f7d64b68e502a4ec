"""Appending to runs and taking them over: the SQL of it."""

import json
from collections.abc import Sequence
from typing import cast

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Drafted, Entry
from sifaka.record.run import Run
from sifaka.storage.append_rules import check_append
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.sqlite.connection import Connection, transaction
from sifaka.storage.sqlite.index import index_version
from sifaka.storage.sqlite.read import version_and_fence
from sifaka.storage.timestamps import to_microseconds


def append_entries(
    connection: Connection,
    tenant: str,
    run: Run,
    entries: Sequence[Entry],
    expected_version: int,
    fence: int | None,
) -> None:
    """Append in one transaction, or find that it was done before."""
    payloads = encode_entries(run, entries, expected_version)
    with transaction(connection, "IMMEDIATE"):
        found, current = version_and_fence(connection, tenant, run.run_id) or (0, 0)
        if found != expected_version:
            end = expected_version + len(payloads)
            if found >= end and _held(connection, tenant, run.run_id, expected_version, end) == (
                payloads
            ):
                return
        check_append(
            run.run_id, fence=fence, current=current, expected=expected_version, found=found
        )
        _write_summary(connection, tenant, run)
        numbered = enumerate(zip(entries, payloads, strict=True), expected_version + 1)
        for seq, (entry, payload) in numbered:
            connection.execute(
                "INSERT INTO entries (tenant, run_id, seq, payload) VALUES (?, ?, ?, ?)",
                (tenant, run.run_id, seq, payload),
            )
            if isinstance(entry, Drafted):
                index_version(connection, tenant, run, seq, entry.thought)


def claim_run(connection: Connection, tenant: str, run_id: str) -> int:
    """One more than the highest number given before, committed."""
    rows = connection.execute(
        "UPDATE runs SET fence = fence + 1 WHERE tenant = ? AND run_id = ? RETURNING fence",
        (tenant, run_id),
    ).fetchall()
    if not rows:
        raise ThoughtNotFound(run_id)
    return cast("int", rows[0][0])


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
                          excerpt, created_at, updated_at, tags)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
            json.dumps(run.tags),
        ),
    )
