"""Runs in this process's memory: for tests, and to leave nothing on disk."""

import secrets
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cursor import decode_cursor, encode_cursor, position
from sifaka.storage.entry_json import decode_entries, encode_entries
from sifaka.storage.log import Health, RunPage, check_append, follow_by_polling, holds
from sifaka.storage.store import LogStore


@dataclass(frozen=True, slots=True)
class _Record:
    payloads: tuple[str, ...]
    """What a repeated append is recognised by: the same JSON as in the stores on disk."""
    run: Run
    fence: int = 0
    """The number of the last claim."""


@dataclass(frozen=True, slots=True, eq=False)
class _Shelf:
    """The one mutable place, shared by all tenants' views."""

    records: dict[tuple[str, str], _Record] = field(default_factory=dict[tuple[str, str], _Record])
    lock: threading.Lock = field(default_factory=threading.Lock)
    cursor_key: bytes = field(default_factory=partial(secrets.token_bytes, 16))


@dataclass(frozen=True, slots=True, eq=False)
class MemoryLog:
    """A `RunLog` that ends with the process."""

    tenant: str = "default"
    _shelf: _Shelf = field(default_factory=_Shelf, repr=False)

    @property
    def place(self) -> str:
        """This process."""
        return "memory:"

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Add entries, all or none; see `RunLog.append`."""
        payloads = encode_entries(run, entries, expected_version)
        key = (self.tenant, run.run_id)
        with self._shelf.lock:
            record = self._shelf.records.get(key)
            held = record.payloads if record else ()
            current = record.fence if record else 0
            if len(held) != expected_version and holds(held, payloads, after=expected_version):
                return
            check_append(
                run.run_id,
                fence=fence,
                current=current,
                expected=expected_version,
                found=len(held),
            )
            self._shelf.records[key] = _Record((*held, *payloads), run, current)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `RunLog.claim`."""
        with self._shelf.lock:
            record = self._record(run_id)
            claimed = replace(record, fence=record.fence + 1)
            self._shelf.records[self.tenant, run_id] = claimed
            return claimed.fence

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return self._record(run_id).run

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `RunLog.follow`."""

        async def read(known: int) -> Sequence[Entry]:
            return tuple(decode_entries(run_id, self._record(run_id).payloads[known:], after=known))

        async with aclosing(follow_by_polling(run_id, read, after=after)) as entries:
            async for step in entries:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        start = decode_cursor(self._shelf.cursor_key, self.tenant, cursor)
        runs = sorted(
            (run for run in self._runs() if position(run) < start), key=position, reverse=True
        )
        page = runs[:limit]
        return RunPage(
            runs=tuple(run.summary() for run in page),
            next_cursor=encode_cursor(self._shelf.cursor_key, self.tenant, position(page[-1]))
            if page and len(runs) > limit
            else None,
        )

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON."""
        return sum(len(payload.encode()) for payload in self._record(run_id).payloads)

    async def delete(self, run_id: str) -> None:
        """Forget a run."""
        with self._shelf.lock:
            self._shelf.records.pop((self.tenant, run_id), None)

    async def catch_up(self) -> int:
        """Nothing is put off."""
        return 0

    async def health(self) -> tuple[Health, ...]:
        """It works."""
        return (Health(part="memory", works=True, found="ends with this process"),)

    def scoped(self, tenant: str) -> "MemoryLog":
        """The same runs as another tenant sees them."""
        return replace(self, tenant=tenant)

    async def aclose(self) -> None:
        """Nothing to release; the runs are gone when the last view is."""

    def _record(self, run_id: str) -> _Record:
        record = self._shelf.records.get((self.tenant, run_id))
        if record is None:
            raise ThoughtNotFound(run_id)
        return record

    def _runs(self) -> list[Run]:
        with self._shelf.lock:
            return [
                record.run
                for (tenant, _), record in self._shelf.records.items()
                if tenant == self.tenant
            ]


class MemoryStorage(LogStore[MemoryLog]):
    """A `ThoughtStore` that ends with the process.

    Args:
        tenant: The tenant whose runs are seen.
    """

    def __init__(self, tenant: str = "default") -> None:
        super().__init__(MemoryLog(tenant), tenant=tenant)
