"""Runs in this process's memory: a store that leaves nothing on disk."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cursor import page_of
from sifaka.storage.entry_json import decode_entries, encode_entries
from sifaka.storage.log import check_append, holds
from sifaka.storage.protocol import Health, RunPage
from sifaka.storage.store import PolledStore


@dataclass(frozen=True, slots=True)
class _Record:
    payloads: tuple[str, ...]
    """The entries as the JSON of the stores on disk, by which a repeated append is recognised."""
    run: Run
    fence: int = 0
    """The number of the last claim."""


class MemoryStorage(PolledStore):
    """A `ThoughtStore` that ends with the process.

    Args:
        tenant: The tenant whose runs are seen.
    """

    def __init__(self, tenant: str = "default") -> None:
        super().__init__("memory:", tenant)
        self._records: dict[tuple[str, str], _Record] = {}
        self._lock = threading.Lock()

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Add entries, all or none; see `ThoughtStore.append`."""
        payloads = encode_entries(run, entries, expected_version)
        key = (self.tenant, run.run_id)
        with self._lock:
            record = self._records.get(key)
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
            self._records[key] = _Record((*held, *payloads), run, current)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        with self._lock:
            record = self._find_record(run_id)
            claimed = replace(record, fence=record.fence + 1)
            self._records[self.tenant, run_id] = claimed
            return claimed.fence

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return self._find_record(run_id).run

    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version."""
        payloads = self._find_record(run_id).payloads[version:]
        return tuple(decode_entries(run_id, payloads, after=version))

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        with self._lock:
            lines = [
                record.run.summary()
                for (tenant, _), record in self._records.items()
                if tenant == self.tenant
            ]
        return page_of(lines, limit=limit, cursor=cursor)

    async def delete(self, run_id: str) -> None:
        """Forget a run."""
        with self._lock:
            self._records.pop((self.tenant, run_id), None)

    async def health(self) -> tuple[Health, ...]:
        """It works."""
        return (Health(part="memory", works=True, found="ends with this process"),)

    def _find_record(self, run_id: str) -> _Record:
        record = self._records.get((self.tenant, run_id))
        if record is None:
            raise ThoughtNotFound(run_id)
        return record
