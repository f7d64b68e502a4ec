"""The tables of the outbox: the changes that wait, and the entries that were refused."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sifaka.errors import VersionConflict
from sifaka.record.entries import Entry
from sifaka.storage.cursor import now_in_microseconds
from sifaka.storage.entry_json import decode_entries
from sifaka.storage.log import holds
from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.schema import Schema

Kind = Literal["append", "delete", "copy"]
"""For an index `copy` stands for: bring it to what the log has of the run, and `delete` for: have
it drop the run first."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One change that a part of the store has not got yet."""

    part: str
    tenant: str
    run_id: str
    kind: Kind
    expected_version: int = 0
    fence: int | None = None
    payloads: tuple[str, ...] = ()
    id: int = 0
    """Its place in the outbox, once it is there."""

    @property
    def end(self) -> int:
        """The run's version after it."""
        return self.expected_version + len(self.payloads)

    def entries(self) -> tuple[Entry, ...]:
        """The entries to append."""
        return tuple(decode_entries(self.run_id, self.payloads, after=self.expected_version))


def _create_tables(sql: SqlConnection) -> None:
    sql.execute("""
        CREATE TABLE waiting (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            tier TEXT NOT NULL,
            tenant TEXT NOT NULL,
            run_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            expected_version INTEGER NOT NULL,
            fence INTEGER,
            payloads TEXT NOT NULL,
            enqueued_at INTEGER NOT NULL
        );
        CREATE INDEX waiting_by_run ON waiting (tier, tenant, run_id, id);
        CREATE TABLE refused (
            id INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL,
            run_id TEXT NOT NULL,
            expected_version INTEGER NOT NULL,
            payloads TEXT NOT NULL,
            reason TEXT NOT NULL,
            refused_at INTEGER NOT NULL
        );
        CREATE INDEX refused_by_run ON refused (tenant, run_id, id);
        CREATE TABLE counts (tier TEXT PRIMARY KEY, waiting INTEGER NOT NULL);
        CREATE TRIGGER count_one_more AFTER INSERT ON waiting BEGIN
            INSERT INTO counts VALUES (new.tier, 1)
            ON CONFLICT (tier) DO UPDATE SET waiting = waiting + 1;
        END;
        CREATE TRIGGER count_one_less AFTER DELETE ON waiting BEGIN
            UPDATE counts SET waiting = waiting - 1 WHERE tier = old.tier;
        END;
    """)


SCHEMA = Schema(0x5346_4B51, 1, _create_tables)
"""Marked `SFKQ`."""


def is_new(sql: SqlConnection, row: Waiting) -> bool:
    """False when a change waits there already: an append, or as the last one a copy.

    Raises:
        VersionConflict: An append does not continue those that wait.
    """
    waiting = rows_of(sql, row.part, row.tenant, row.run_id)
    if row.kind != "append":
        return row.kind != "copy" or not waiting or waiting[-1].kind != "copy"
    held = [each for each in waiting if each.payloads]
    if not held or held[-1].end == row.expected_version:
        return True
    queued = [payload for each in held for payload in each.payloads]
    if row.expected_version >= held[0].expected_version and holds(
        queued, row.payloads, after=row.expected_version - held[0].expected_version
    ):
        return False
    raise VersionConflict(row.run_id, expected=row.expected_version, found=held[-1].end)


def rows_of(sql: SqlConnection, part: str, tenant: str, run_id: str) -> list[Waiting]:
    """The changes that wait for a part about one run, in order."""
    found = sql.execute(
        "SELECT id, kind, expected_version, fence, payloads FROM waiting"
        " WHERE tier = ? AND tenant = ? AND run_id = ? ORDER BY id",
        (part, tenant, run_id),
    )
    return [
        Waiting(part, tenant, run_id, kind, after, fence, tuple(json.loads(payloads)), number)
        for number, kind, after, fence, payloads in found
    ]


def insert(sql: SqlConnection, row: Waiting) -> None:
    """Add a change at the end."""
    about = (row.part, row.tenant, row.run_id, row.kind, row.expected_version, row.fence)
    sql.execute(
        "INSERT INTO waiting (tier, tenant, run_id, kind, expected_version, fence, payloads,"
        " enqueued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*about, json.dumps(row.payloads), now_in_microseconds()),
    )


def remove_rows(sql: SqlConnection, ids: Sequence[int]) -> None:
    """Delete changes; those that are gone already are ignored."""
    for number in ids:
        sql.execute("DELETE FROM waiting WHERE id = ?", (number,))
