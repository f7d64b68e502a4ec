"""Runs in this process's memory: a store that leaves nothing on disk, and a cache of states."""

import threading
import time
from collections import OrderedDict
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
        self.tenant = tenant
        self._records: dict[tuple[str, str], _Record] = {}
        self._lock = threading.Lock()

    @property
    def place(self) -> str:
        """This process."""
        return "memory:"

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
            record = self._record(run_id)
            claimed = replace(record, fence=record.fence + 1)
            self._records[self.tenant, run_id] = claimed
            return claimed.fence

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return self._record(run_id).run

    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version."""
        payloads = self._record(run_id).payloads[version:]
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

    def _record(self, run_id: str) -> _Record:
        record = self._records.get((self.tenant, run_id))
        if record is None:
            raise ThoughtNotFound(run_id)
        return record


CACHED_RUNS = 500
"""Runs that a cache holds; the least recently used is evicted first."""


@dataclass(frozen=True, slots=True)
class State:
    """A run and its last entries."""

    run: Run
    after: int
    """The number of entries of the run before these."""
    entries: Sequence[Entry]
    at: float
    """When the last of them was kept, by the monotonic clock."""


class RunCache:
    """States that the log has acknowledged. Another process may have appended since.

    Args:
        most: Runs that are held.
    """

    def __init__(self, most: int = CACHED_RUNS) -> None:
        self.source = ""
        """Which log it was; empty as long as it cannot be told."""
        self._most = most
        self._states: OrderedDict[tuple[str, str], State] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, tenant: str, run_id: str) -> State | None:
        """The state of a run; it may be behind the log."""
        with self._guard:
            if (tenant, run_id) in self._states:
                self._states.move_to_end((tenant, run_id))
            return self._states.get((tenant, run_id))

    def keep(self, tenant: str, run: Run, entries: Sequence[Entry], *, after: int) -> None:
        """Note an append that the log has acknowledged."""
        key = (tenant, run.run_id)
        with self._guard:
            known = self._states.pop(key, None)
            if known and known.run.version == after:
                entries, after = (*known.entries, *entries), known.after
            self._states[key] = State(run, after, entries, time.monotonic())
            if len(self._states) > self._most:
                self._states.popitem(last=False)

    def evict(self, tenant: str, run_id: str) -> None:
        """Forget a run."""
        with self._guard:
            self._states.pop((tenant, run_id), None)

    def items(self) -> list[tuple[str, State]]:
        """Tenant and state of the runs that are held."""
        with self._guard:
            return [(tenant, state) for (tenant, _), state in self._states.items()]

    def run(self, tenant: str, run_id: str) -> Run | None:
        """A run as it was when it was last kept."""
        state = self.get(tenant, run_id)
        return state and state.run

    def runs(self, tenant: str) -> list[Run]:
        """The runs of a tenant."""
        with self._guard:
            return [state.run for (owner, _), state in self._states.items() if owner == tenant]
