"""The runs that this process has written, for the time in which their log cannot be asked."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from sifaka.record.entries import Entry
from sifaka.record.run import Run

CACHED_RUNS = 500
"""Runs that are held; the least recently used is evicted first."""


@dataclass(frozen=True, slots=True)
class State:
    """A run and its last entries."""

    run: Run
    after: int
    """The number of entries of the run before these."""
    entries: Sequence[Entry]

    def since(self, version: int) -> Sequence[Entry] | None:
        """The entries beyond a version; None when some of them are not at hand."""
        return self.entries[version - self.after :] if version >= self.after else None


class RunCache:
    """States that the log has acknowledged. Another process may have appended since."""

    def __init__(self) -> None:
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
            self._states[key] = State(run, after, entries)
            if len(self._states) > CACHED_RUNS:
                self._states.popitem(last=False)

    def evict(self, tenant: str, run_id: str) -> None:
        """Forget a run."""
        with self._guard:
            self._states.pop((tenant, run_id), None)

    def runs(self, tenant: str) -> list[Run]:
        """The runs of a tenant."""
        with self._guard:
            return [state.run for (owner, _), state in self._states.items() if owner == tenant]
