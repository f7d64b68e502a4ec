"""The queue of a store in tiers: what waits for a tier, and what the authority has refused."""

import json
import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from sifaka.errors import AppendRefused, StorageError
from sifaka.storage.entry_json import decode_entries
from sifaka.storage.sqlite.connection import Connection
from sifaka.storage.tiers.backlog import Known, Refused, Waiting
from sifaka.storage.tiers.queue_file import QueueFile
from sifaka.storage.tiers.queue_rows import (
    continues,
    insert_row,
    look_over,
    remove_rows,
    rows_about,
)
from sifaka.storage.timestamps import from_microseconds, now_in_microseconds
from sifaka.text.input import is_unicode

logger = logging.getLogger(__name__)
T = TypeVar("T")


class Outbox:
    """The queue of a store in tiers; each method is one transaction.

    Nothing is queued for an id that is no text, which SQLite cannot be asked for.

    Args:
        path: Its file, None for a queue that ends with the process.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known = Known({}, {})
        self.failure: StorageError | None = None
        """Why the file could not be used the last time; None when it could."""
        self._file = QueueFile(path)

    @property
    def durable(self) -> bool:
        """Whether what is queued outlives the process."""
        return self.path is not None

    @property
    def empty(self) -> bool:
        """Whether nothing was ever queued, which is known without opening a file."""
        return not self._file.exists

    async def put(self, rows: Sequence[Waiting], *, instead_of: Sequence[int] = ()) -> list[int]:
        """Queue rows, in the place of others; their numbers in the queue."""
        if not rows and not instead_of:
            return []

        def work(sql: Connection) -> tuple[list[int], Known]:
            remove_rows(sql, instead_of)
            return [insert_row(sql, row) for row in rows], look_over(sql)

        ids, self.known = await self._write(work)
        return ids

    async def put_first(
        self, row: Waiting, behind: Sequence[Waiting], *, instead_of: Sequence[int] = ()
    ) -> None:
        """Queue an append for the authority, and what follows from it.

        Raises:
            VersionConflict: It does not continue what waits for the authority already.
        """

        def work(sql: Connection) -> Known:
            remove_rows(sql, instead_of)
            if continues(sql, row):
                for each in (row, *behind):
                    insert_row(sql, each)
            return look_over(sql)

        self.known = await self._write(work)

    async def rows(self, tier: str, tenant: str, run_id: str) -> list[Waiting]:
        """What waits for a tier about one run, in order."""
        if not is_unicode(run_id):
            return []
        return await self._read(lambda sql: rows_about(sql, tier, tenant, run_id)) or []

    async def look(self, tier: str, tenant: str, run_id: str) -> tuple[bool, bool]:
        """Whether anything waits for a tier about one run, and whether any of it was refused."""
        if not is_unicode(run_id):
            return False, False

        def work(sql: Connection) -> tuple[bool, bool]:
            waiting = sql.execute(
                "SELECT 1 FROM waiting WHERE tier = ? AND tenant = ? AND run_id = ? LIMIT 1",
                (tier, tenant, run_id),
            ).fetchone()
            refused = sql.execute(
                "SELECT 1 FROM refused WHERE tenant = ? AND run_id = ? LIMIT 1", (tenant, run_id)
            ).fetchone()
            return waiting is not None, refused is not None

        return await self._read(work) or (False, False)

    async def runs(self, tier: str, limit: int) -> list[tuple[str, str]]:
        """Tenant and id of the runs about which something waits for a tier, longest first."""

        def work(sql: Connection) -> list[tuple[str, str]]:
            found = sql.execute(
                "SELECT tenant, run_id FROM waiting WHERE tier = ?"
                " GROUP BY tenant, run_id ORDER BY min(id) LIMIT ?",
                (tier, limit),
            )
            return cast("list[tuple[str, str]]", found.fetchall())

        return await self._read(work) or []

    async def refuse(
        self, tier: str, tenant: str, run_id: str, reason: str, then: Sequence[Waiting]
    ) -> None:
        """Set aside what waits for a tier about one run, and queue what follows from that."""

        def work(sql: Connection) -> Known:
            moment = now_in_microseconds()
            rows = rows_about(sql, tier, tenant, run_id)
            for row in rows:
                if row.kind == "append":
                    sql.execute(
                        "INSERT INTO refused (tenant, run_id, expected_version, payloads, reason,"
                        " refused_at) VALUES (?, ?, ?, ?, ?, ?)",
                        (
                            tenant,
                            run_id,
                            row.expected_version,
                            json.dumps(row.payloads),
                            reason,
                            moment,
                        ),
                    )
            remove_rows(sql, [row.id for row in rows])
            for row in then:
                insert_row(sql, row)
            return look_over(sql)

        self.known = await self._write(work)

    async def forget(self, tenant: str, run_id: str, then: Sequence[Waiting]) -> None:
        """Drop all there is about a run, and queue what follows from that."""
        if (self.empty and not then) or not is_unicode(run_id):
            return

        def work(sql: Connection) -> Known:
            sql.execute("DELETE FROM waiting WHERE tenant = ? AND run_id = ?", (tenant, run_id))
            sql.execute("DELETE FROM refused WHERE tenant = ? AND run_id = ?", (tenant, run_id))
            for row in then:
                insert_row(sql, row)
            return look_over(sql)

        self.known = await self._write(work)

    async def oldest(self) -> datetime | None:
        """Since when the first in the queue waits."""

        def work(sql: Connection) -> int | None:
            found = sql.execute("SELECT enqueued_at FROM waiting ORDER BY id LIMIT 1").fetchone()
            return found[0] if found else None

        since = await self._read(work)
        return None if since is None else from_microseconds(since)

    async def refused(self, tenant: str) -> list[Refused]:
        """A tenant's entries that the authority did not take, oldest first."""

        def work(sql: Connection) -> list[tuple[Any, ...]]:
            return sql.execute(
                "SELECT run_id, expected_version, payloads, reason, refused_at FROM refused"
                " WHERE tenant = ? ORDER BY id",
                (tenant,),
            ).fetchall()

        return [
            Refused(
                run_id=run_id,
                expected_version=after,
                entries=tuple(decode_entries(run_id, json.loads(payloads), after=after)),
                reason=reason,
                refused_at=from_microseconds(moment),
            )
            for run_id, after, payloads, reason, moment in await self._read(work) or []
        ]

    async def aclose(self) -> None:
        """Release the file."""
        await self._file.aclose()

    async def _read(self, work: Callable[[Connection], T]) -> T | None:
        """What the function returns, None when there is no queue; what is known is renewed."""
        if self.empty:
            self.known, self.failure = Known({}, {}), None
            return None
        with self._noting():
            found, self.known = await self._file.read(lambda sql: (work(sql), look_over(sql)))
        return found

    async def _write(self, work: Callable[[Connection], T]) -> T:
        with self._noting():
            return await self._file.run(work)

    @contextmanager
    def _noting(self) -> Generator[None]:
        try:
            yield
        except AppendRefused:
            raise
        except StorageError as failure:
            if self.failure is None:  # told once, not with every append
                logger.warning("the queue of the store failed: %s", failure)
            self.failure = failure
            raise
        self.failure = None
