"""The outbox of a store: appends that wait for its log, and runs that its indexes lack."""

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from sifaka.errors import AppendRefused, StorageError, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cursor import from_microseconds, now_in_microseconds
from sifaka.storage.entry_json import decode_entries, encode_entries, extended
from sifaka.storage.log import holds
from sifaka.storage.protocol import Health
from sifaka.storage.sqlite.connection import (
    Schema,
    SqlConnection,
    SQLiteWorker,
    transaction,
    truncate_log,
)
from sifaka.text.input import is_unicode

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Waiting:
    """One change that a part of the store has not got yet."""

    part: str
    tenant: str
    run_id: str
    kind: Literal["append", "delete", "copy"]
    """For the log, `append`; for an index, `copy`, to bring it to what the log has of the run, or
    `delete`, to have it drop the run first."""
    expected_version: int = 0
    fence: int | None = None
    payloads: tuple[str, ...] = ()
    id: int = 0
    """Its place in the outbox, once it is there."""

    def entries(self) -> tuple[Entry, ...]:
        """The entries to append."""
        return tuple(decode_entries(self.run_id, self.payloads, after=self.expected_version))


@dataclass(frozen=True, slots=True)
class Refused:
    """Entries that were appended while the log was down, and that it refused afterwards."""

    run_id: str
    expected_version: int
    entries: tuple[Entry, ...]
    reason: str
    refused_at: datetime


_SCHEMA = Schema(
    0x5346_4B51,
    1,
    """
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
""",
)
"""Marked `SFKQ`."""


class Outbox:
    """Each method is one transaction. Several processes may share the file.

    Nothing is queued for an id that is no text, which SQLite cannot be asked for.

    Args:
        path: Its file, made by the first use; None for an outbox that ends with the process.
        log: The name of the log.
        indexes: The names of its indexes.
    """

    def __init__(self, path: Path | None, log: str, indexes: Sequence[str]) -> None:
        self.path = path
        self.waiting: dict[str, int] = {}
        """The number of changes that wait, by part, as of the last use of the file."""
        self.refused: dict[tuple[str, str], int] = {}
        """The number of refused entries, by the run's tenant and id, as of then."""
        self.failure: StorageError | None = None
        """The error of the last use of the file; None when it succeeded."""
        self._log = log
        self._indexes = indexes
        self._worker = SQLiteWorker(path or Path(":memory:"), _SCHEMA)

    @property
    def empty(self) -> bool:
        """True when nothing was ever queued; no file is opened to find out."""
        return not (self.path.exists() if self.path else self._worker.used)

    async def append(
        self,
        tenant: str,
        run: Run,
        entries: Sequence[Entry],
        *,
        expected_version: int,
        fence: int | None,
    ) -> None:
        """Have an append wait for the log, behind those of the run that do, or find it there.

        Raises:
            VersionConflict: It does not continue those that wait.
        """
        payloads = encode_entries(run, entries, expected_version)
        about = (self._log, tenant, run.run_id)
        row = Waiting(*about, "append", expected_version, fence, payloads)
        await self._run(lambda sql: _insert_row(sql, row))

    async def note(self, tenant: str, run_ids: Iterable[str]) -> None:
        """The indexes lack something of these runs."""
        rows = [Waiting(i, tenant, run_id, "copy") for run_id in run_ids for i in self._indexes]
        if rows:
            await self._run(lambda sql: [_insert_row(sql, row) for row in rows])

    async def remove(self, rows: Iterable[Waiting]) -> None:
        """Take changes out that may be gone already."""
        ids = json.dumps([row.id for row in rows])
        query = "DELETE FROM waiting WHERE id IN (SELECT value FROM json_each(?))"
        await self._run(lambda sql: sql.execute(query, (ids,)))

    async def rows(self, part: str, tenant: str, run_id: str) -> list[Waiting]:
        """The changes that wait for a part about one run, in order."""
        if not is_unicode(run_id):
            return []
        return await self._read(lambda sql: _read_rows(sql, part, tenant, run_id)) or []

    async def runs(self, part: str) -> list[tuple[str, str]]:
        """Tenant and id of the runs about which something waits for a part, longest first."""
        query = "SELECT tenant, run_id FROM waiting WHERE tier = ? GROUP BY 1, 2 ORDER BY min(id)"
        return [(tenant, run_id) for tenant, run_id in await self._select(query, part)]

    async def refuse(self, tenant: str, run_id: str, reason: str) -> None:
        """Set aside the appends of a run that wait for the log; indexes may have got them."""
        about = (self._log, tenant, run_id)

        def work(sql: SqlConnection) -> None:
            sql.execute(
                "INSERT INTO refused (tenant, run_id, expected_version, payloads, reason,"
                " refused_at) SELECT tenant, run_id, expected_version, payloads, ?, ? FROM waiting"
                " WHERE tier = ? AND tenant = ? AND run_id = ? AND kind = 'append' ORDER BY id",
                (reason, now_in_microseconds(), *about),
            )
            sql.execute("DELETE FROM waiting WHERE tier = ? AND tenant = ? AND run_id = ?", about)
            for index in self._indexes:
                _insert_row(sql, Waiting(index, tenant, run_id, "delete"))

        await self._run(work)

    async def forget(self, tenant: str, run_ids: Iterable[str]) -> None:
        """Drop all there is about some runs, and queue that the indexes drop them."""
        ids = [run_id for run_id in run_ids if is_unicode(run_id)]
        if (self.empty and not self._indexes) or not ids:
            return

        def work(sql: SqlConnection) -> None:
            for about in ((tenant, run_id) for run_id in ids):
                sql.execute("DELETE FROM waiting WHERE tenant = ? AND run_id = ?", about)
                sql.execute("DELETE FROM refused WHERE tenant = ? AND run_id = ?", about)
                for index in self._indexes:
                    _insert_row(sql, Waiting(index, *about, "delete"))

        await self._run(work)
        await self._worker.run(truncate_log)

    async def health(self, tenant: str) -> Health:
        """What waits, and since when; it works unless entries of the tenant were refused."""
        part = f"queue {str(self.path)!r}" if self.path else "queue in memory"
        try:
            first = await self._select("SELECT enqueued_at FROM waiting ORDER BY id LIMIT 1")
        except StorageError as failure:
            return Health(part=part, works=False, found=str(failure))
        found = "; ".join(self.refusal_lines(tenant))
        works = not found
        if works and first:
            waiting = ", ".join(f"{count} for {name}" for name, count in self.waiting.items())
            found = f"{waiting} wait, the first since {from_microseconds(first[0][0]):%F %T} UTC"
        return Health(part=part, works=works, found=found or "nothing waits")

    def refusal_lines(self, tenant: str) -> list[str]:
        """The tenant's runs of which the log refused entries, a line each."""
        lines = [
            f"{self._log}: {'1 entry' if count == 1 else f'{count} entries'} of run {run_id!r}, "
            f"appended while it was down, {'was' if count == 1 else 'were'} refused because "
            "another process had continued the run; the queue keeps them until the run is deleted"
            for (owner, run_id), count in self.refused.items()
            if owner == tenant
        ]
        return limit_lines(lines, "more runs have entries that were refused")

    async def refusals(self, tenant: str) -> list[Refused]:
        """A tenant's entries that the log refused, oldest first."""
        query = (
            "SELECT run_id, expected_version, payloads, reason, refused_at FROM refused"
            " WHERE tenant = ? ORDER BY id"
        )
        return [
            Refused(
                run_id=run_id,
                expected_version=after,
                entries=tuple(decode_entries(run_id, json.loads(payloads), after=after)),
                reason=reason,
                refused_at=from_microseconds(moment),
            )
            for run_id, after, payloads, reason, moment in await self._select(query, tenant)
        ]

    async def aclose(self) -> None:
        """Release the file."""
        await self._worker.aclose()

    async def _select(self, query: str, *bindings: object) -> list[tuple[Any, ...]]:
        return await self._read(lambda sql: sql.execute(query, bindings).fetchall()) or []

    async def _read(self, work: Callable[[SqlConnection], T]) -> T | None:
        """The result of the function, None when there is no outbox."""
        if self.empty:
            self.waiting, self.refused, self.failure = {}, {}, None
            return None
        return await self._run(work, "DEFERRED")

    async def _run(self, work: Callable[[SqlConnection], T], kind: str = "IMMEDIATE") -> T:
        def whole(sql: SqlConnection) -> T:
            with transaction(sql, kind):
                result = work(sql)
                self.waiting, self.refused = _read_counts(sql)
                return result

        try:
            result = await self._worker.run(whole)
        except AppendRefused:
            raise
        except StorageError as failure:
            if self.failure is None:  # logged once, not with every append
                logger.warning("the queue of the store failed: %s", failure)
            self.failure = failure
            raise
        self.failure = None
        return result


def _read_counts(sql: SqlConnection) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    waiting = sql.execute("SELECT tier, waiting FROM counts WHERE waiting > 0").fetchall()
    refused = sql.execute(
        "SELECT tenant, run_id, sum(json_array_length(payloads)) FROM refused"
        " GROUP BY tenant, run_id"
    )
    return dict(waiting), {(tenant, run_id): number for tenant, run_id, number in refused}


def _read_rows(sql: SqlConnection, part: str, tenant: str, run_id: str) -> list[Waiting]:
    rows = sql.execute(
        "SELECT id, kind, expected_version, fence, payloads FROM waiting"
        " WHERE tier = ? AND tenant = ? AND run_id = ? ORDER BY id",
        (part, tenant, run_id),
    )
    return [
        Waiting(part, tenant, run_id, kind, after, fence, tuple(json.loads(payloads)), number)
        for number, kind, after, fence, payloads in rows
    ]


def _insert_row(sql: SqlConnection, row: Waiting) -> None:
    """Add a change at the end, unless it waits there already.

    Raises:
        VersionConflict: It is an append that does not continue those that wait.
    """
    waiting = _read_rows(sql, row.part, row.tenant, row.run_id)
    if row.kind == "append" and waiting:
        first = waiting[0].expected_version
        queued = [payload for each in waiting for payload in each.payloads]
        before, found = row.expected_version - first, first + len(queued)
        if before >= 0 and holds(queued, row.payloads, after=before):
            return
        if found != row.expected_version:
            raise VersionConflict(row.run_id, expected=row.expected_version, found=found)
    elif row.kind == "copy" and waiting and waiting[-1].kind == "copy":
        return
    about = (row.part, row.tenant, row.run_id, row.kind, row.expected_version, row.fence)
    sql.execute(
        "INSERT INTO waiting (tier, tenant, run_id, kind, expected_version, fence, payloads,"
        " enqueued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*about, json.dumps(row.payloads), now_in_microseconds()),
    )


def limit_lines(lines: list[str], more: str) -> list[str]:
    """Three of the lines, and one that counts the others."""
    return lines if len(lines) <= 3 else [*lines[:3], f"{len(lines) - 3} {more}"]


def queued_steps(run: Run | None, queued: Sequence[Waiting]) -> list[tuple[Entry, Run]] | None:
    """The entries that wait for the log and that a run lacks, each with the run after it.

    None when the beginning of the run is not known here, or the log has gone on otherwise.
    """
    steps: list[tuple[Entry, Run]] = []
    for row in queued:
        version = run.version if run else 0
        if version < row.expected_version:
            return None
        for entry in row.entries()[version - row.expected_version :]:
            run = extended(run, [entry])
            if run is None:
                return None
            steps.append((entry, run))
    return steps
