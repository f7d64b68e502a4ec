"""Caches in this process's memory, which answer only while the authority cannot.

Another process may have appended since, and nobody tells them.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from sifaka.errors import AppendRefused, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.tiers.tier import Tier
from sifaka.storage.tiers.transfer import read_all

CACHED_RUNS = 500
"""How many runs the caches hold; who was not used for longest goes first."""


class Caches:
    """The leading tiers; each holds a beginning of a run as the authority has it.

    Args:
        tiers: From the fastest on.
    """

    def __init__(self, tiers: Sequence[Tier]) -> None:
        self._tiers = tuple(tiers)
        self._used: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._guard = threading.Lock()

    async def held(self, tenant: str, run_id: str) -> Run | None:
        """What the caches have of a run; it may be behind the authority."""
        for tier in self._tiers:
            try:
                run = await tier.of(tenant).load(run_id)
            except ThoughtNotFound:
                continue
            await self._use(tenant, run_id)
            return run
        return None

    async def entries(self, tenant: str, run_id: str) -> list[Entry]:
        """What the caches have of a run, entry by entry; nothing for one that they do not know."""
        for tier in self._tiers:
            if found := await read_all(tier.of(tenant), run_id):
                return found[1]
        return []

    async def keep(
        self, tenant: str, run: Run, entries: Sequence[Entry], *, expected_version: int
    ) -> None:
        """Add what the authority has acknowledged; a cache that does not fit forgets the run."""
        for tier in self._tiers:
            view = tier.of(tenant)
            try:
                await view.append(run, entries, expected_version=expected_version)
            except AppendRefused:
                await view.delete(run.run_id)
        await self._use(tenant, run.run_id)

    async def evict(self, tenant: str, run_id: str) -> None:
        """Forget a run."""
        with self._guard:
            self._used.pop((tenant, run_id), None)
        for tier in self._tiers:
            await tier.of(tenant).delete(run_id)

    async def _use(self, tenant: str, run_id: str) -> None:
        if not self._tiers:
            return
        with self._guard:
            self._used[tenant, run_id] = None
            self._used.move_to_end((tenant, run_id))
            oldest = next(iter(self._used)) if len(self._used) > CACHED_RUNS else None
        if oldest is not None:
            await self.evict(*oldest)
