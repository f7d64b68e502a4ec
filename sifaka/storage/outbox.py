"""The outbox of a store: appends that wait for its log, and runs that its indexes lack."""

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from sifaka.errors import AppendRefused, StorageError
from sifaka.record.entries import Entry
from sifaka.storage.cursor import from_microseconds, now_in_microseconds
from sifaka.storage.entry_json import decode_entries
from sifaka.storage.outbox_tables import (
    SCHEMA,
    Waiting,
    insert,
    is_new,
    remove_rows,
    rows_of,
)
from sifaka.storage.sqlite.connection import SqlConnection, transaction
from sifaka.storage.sqlite.erasure import truncate_log
from sifaka.storage.sqlite.worker import SQLiteWorker
from sifaka.text.input import is_unicode

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Refused:
    """Entries that were appended while the log was down, and that it refused afterwards."""

    run_id: str
    expected_version: int
    entries: tuple[Entry, ...]
    reason: str
    refused_at: datetime


@dataclass(frozen=True, slots=True)
class Backlog:
    """The contents of the outbox, as of the last look."""

    waiting: dict[str, int]
    """The number of changes that wait, by part."""
    refused: dict[tuple[str, str], int]
    """The number of refused entries, by the run's tenant and id."""


class Outbox:
    """Each method is one transaction. Several processes may share the file.

    Nothing is queued for an id that is no text, which SQLite cannot be asked for.

    Args:
        path: Its file, made by the first use; None for an outbox that ends with the process.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known = Backlog({}, {})
        self.failure: StorageError | None = None
        """The error of the last use of the file; None when it succeeded."""
        self._worker = SQLiteWorker(path or Path(":memory:"), SCHEMA)

    @property
    def durable(self) -> bool:
        """True when its contents outlive the process."""
        return self.path is not None

    @property
    def empty(self) -> bool:
        """True when nothing was ever queued; no file is opened to find out."""
        return not (self.path.exists() if self.path else self._worker.used)

    async def put(self, rows: Sequence[Waiting]) -> None:
        """Add changes at the end, unless they wait there already.

        Raises:
            VersionConflict: An append does not continue those that wait.
        """

        def work(sql: SqlConnection) -> None:
            for row in rows:
                if is_new(sql, row):
                    insert(sql, row)

        if rows:
            await self._write(work)

    async def remove(self, ids: Sequence[int]) -> None:
        """Take rows out that may be gone already."""
        await self._write(lambda sql: remove_rows(sql, ids))

    async def rows(self, part: str, tenant: str, run_id: str) -> list[Waiting]:
        """The changes that wait for a part about one run, in order."""
        if not is_unicode(run_id):
            return []
        return await self._read(lambda sql: rows_of(sql, part, tenant, run_id)) or []

    async def runs(self, part: str) -> list[tuple[str, str]]:
        """Tenant and id of the runs about which something waits for a part, longest first."""
        query = "SELECT tenant, run_id FROM waiting WHERE tier = ? GROUP BY 1, 2 ORDER BY min(id)"
        return [(tenant, run_id) for tenant, run_id in await self._select(query, part)]

    async def refuse(
        self, part: str, tenant: str, run_id: str, reason: str, indexes: Sequence[str]
    ) -> None:
        """Set aside the appends that wait for a part about one run; indexes may have got them."""

        def work(sql: SqlConnection) -> None:
            moment = now_in_microseconds()
            rows = rows_of(sql, part, tenant, run_id)
            for row in rows:
                if row.kind == "append":
                    values = (row.expected_version, json.dumps(row.payloads), reason, moment)
                    sql.execute(
                        "INSERT INTO refused (tenant, run_id, expected_version, payloads, reason,"
                        " refused_at) VALUES (?, ?, ?, ?, ?, ?)",
                        (tenant, run_id, *values),
                    )
            remove_rows(sql, [row.id for row in rows])
            for index in indexes:
                insert(sql, Waiting(index, tenant, run_id, "delete"))

        await self._write(work)

    async def forget(self, tenant: str, run_ids: Iterable[str], parts: Sequence[str]) -> None:
        """Drop all there is about some runs, and queue their deletion for these parts."""
        known = [run_id for run_id in run_ids if is_unicode(run_id)]
        if (self.empty and not parts) or not known:
            return

        def work(sql: SqlConnection) -> None:
            for about in ((tenant, run_id) for run_id in known):
                sql.execute("DELETE FROM waiting WHERE tenant = ? AND run_id = ?", about)
                sql.execute("DELETE FROM refused WHERE tenant = ? AND run_id = ?", about)
                for part in parts:
                    insert(sql, Waiting(part, *about, "delete"))

        await self._write(work)
        await self._worker.run(truncate_log)

    async def oldest(self) -> datetime | None:
        """Since when the first change waits."""
        found = await self._select("SELECT enqueued_at FROM waiting ORDER BY id LIMIT 1")
        return from_microseconds(found[0][0]) if found else None

    async def refused(self, tenant: str) -> list[Refused]:
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
        """The result of the function, None when there is no outbox; `known` is renewed."""
        if self.empty:
            self.known, self.failure = Backlog({}, {}), None
            return None
        return await self._run(work, "DEFERRED")

    async def _write(self, work: Callable[[SqlConnection], T]) -> T:
        return await self._run(work, "IMMEDIATE")

    async def _run(self, work: Callable[[SqlConnection], T], kind: str) -> T:
        def whole(sql: SqlConnection) -> tuple[T, Backlog]:
            with transaction(sql, kind):
                return work(sql), _look_over(sql)

        try:
            found, self.known = await self._worker.run(whole)
        except AppendRefused:
            raise
        except StorageError as failure:
            if self.failure is None:  # told once, not with every append
                logger.warning("the queue of the store failed: %s", failure)
            self.failure = failure
            raise
        self.failure = None
        return found


def _look_over(sql: SqlConnection) -> Backlog:
    counts = sql.execute("SELECT tier, waiting FROM counts WHERE waiting > 0").fetchall()
    refused = sql.execute(
        "SELECT tenant, run_id, sum(json_array_length(payloads)) FROM refused"
        " GROUP BY tenant, run_id"
    )
    return Backlog(dict(counts), {(tenant, run_id): n for tenant, run_id, n in refused})
