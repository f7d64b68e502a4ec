"""The rows of the queue: the SQL of it."""

import json
from collections.abc import Sequence

from sifaka.errors import VersionConflict
from sifaka.storage.sqlite.connection import Connection
from sifaka.storage.tiers.backlog import Known, Waiting
from sifaka.storage.timestamps import now_in_microseconds


def continues(sql: Connection, row: Waiting) -> bool:
    """Whether an append comes next behind what waits; False when it waits there already.

    Raises:
        VersionConflict: It is neither.
    """
    last = sql.execute(
        "SELECT expected_version + json_array_length(payloads) FROM waiting WHERE kind = 'append'"
        " AND tier = ? AND tenant = ? AND run_id = ? ORDER BY id DESC LIMIT 1",
        (row.tier, row.tenant, row.run_id),
    ).fetchone()
    if last is None or last[0] == row.expected_version:
        return True
    held = [each for each in rows_about(sql, row.tier, row.tenant, row.run_id) if each.payloads]
    start, end = held[0].expected_version, held[-1].end
    queued = tuple(payload for each in held for payload in each.payloads)
    if start <= row.expected_version and row.end <= end:
        first = row.expected_version - start
        if queued[first : first + len(row.payloads)] == row.payloads:
            return False
    raise VersionConflict(row.run_id, expected=row.expected_version, found=end)


def rows_about(sql: Connection, tier: str, tenant: str, run_id: str) -> list[Waiting]:
    """What waits for a tier about one run, in order."""
    found = sql.execute(
        "SELECT id, kind, expected_version, fence, payloads FROM waiting"
        " WHERE tier = ? AND tenant = ? AND run_id = ? ORDER BY id",
        (tier, tenant, run_id),
    )
    return [
        Waiting(tier, tenant, run_id, kind, after, fence, tuple(json.loads(payloads)), number)
        for number, kind, after, fence, payloads in found
    ]


def insert_row(sql: Connection, row: Waiting) -> int:
    """Put a row at the end; its number."""
    sql.execute(
        "INSERT INTO waiting (tier, tenant, run_id, kind, expected_version, fence, payloads,"
        " enqueued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.tier,
            row.tenant,
            row.run_id,
            row.kind,
            row.expected_version,
            row.fence,
            json.dumps(row.payloads),
            now_in_microseconds(),
        ),
    )
    return sql.last_insert_rowid()


def remove_rows(sql: Connection, ids: Sequence[int]) -> None:
    """Take rows out that may be gone already."""
    for number in ids:
        sql.execute("DELETE FROM waiting WHERE id = ?", (number,))


def look_over(sql: Connection) -> Known:
    """How much there is of everything."""
    counts = sql.execute("SELECT tier, waiting FROM counts WHERE waiting > 0").fetchall()
    refused = sql.execute(
        "SELECT tenant, run_id, sum(json_array_length(payloads)) FROM refused"
        " GROUP BY tenant, run_id"
    )
    return Known(dict(counts), {(tenant, run_id): n for tenant, run_id, n in refused})
