"""Stores in tiers: fast in front, lasting in the middle, searchable behind."""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import reduce
from pathlib import Path

import anyio

from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage, ThoughtStore
from sifaka.storage.tiers.append import Appending
from sifaka.storage.tiers.backlog import Refused
from sifaka.storage.tiers.cache import Caches
from sifaka.storage.tiers.delivery import Delivery
from sifaka.storage.tiers.follow import follow_tiers
from sifaka.storage.tiers.health import degraded_lines, look_at_tiers
from sifaka.storage.tiers.layout import lay_out
from sifaka.storage.tiers.outbox import Outbox
from sifaka.storage.tiers.read import Reading

_CATCH_UP_SECONDS = 2.0
_BEFORE_SEARCH_SECONDS = 1.0
_CLOSING_SECONDS = 5.0


class CachedStorage:
    """A `ThoughtStore` of several others.

    The first of them that lasts is the authority: versions, fences and claims are decided there,
    and an append has returned when it holds the entries. Stores in memory before it are caches;
    those after it are copies, which get the same entries a moment later, from a queue on disk, and
    of which the last one is searched. While the authority is down, appends wait for it in the queue
    and runs go on.

    Args:
        cache: The tier in front, or another `CachedStorage`, whose tiers are taken instead of it.
        persistence: The tier behind it, likewise.
        queue: The file of the queue, for as many processes as use these tiers. Without one, appends
            wait for the copies in memory, and the authority's failures are raised.
        tenant: Whose runs are seen, whatever the tiers were opened for.
        retry_after: Seconds in which a tier that cannot be reached is not asked again.

    Raises:
        ConfigurationError: A store stands in two tiers, or two queues are named.
    """

    def __init__(
        self,
        cache: ThoughtStore,
        persistence: ThoughtStore,
        *,
        queue: str | Path | None = None,
        tenant: str = "default",
        retry_after: float = 5.0,
    ) -> None:
        self.tenant = tenant
        self.queue = _queue_of(queue, cache, persistence)
        self.tiers: tuple[ThoughtStore, ...] = (*_tiers_of(cache), *_tiers_of(persistence))
        self._owned = True
        self._layout = lay_out(self.tiers, retry_after=retry_after)
        if self.queue is None:
            # Nothing can wait for it, so it is asked each time.
            self._layout.authority.retry_after = 0.0
        self._caches = Caches(self._layout.caches)
        self._outbox = Outbox(self.queue)
        self._delivery = Delivery(self._layout, self._caches, self._outbox)
        self._appending = Appending(self._layout, self._caches, self._outbox, self._delivery)
        self._reading = Reading(self._layout, self._caches, self._outbox, self._delivery)

    @classmethod
    def of(
        cls,
        tiers: Sequence[ThoughtStore],
        *,
        queue: str | Path | None = None,
        tenant: str = "default",
        retry_after: float = 5.0,
    ) -> CachedStorage:
        """The same from a list of tiers, the fastest first.

        Raises:
            ConfigurationError: There are fewer than two, or what the constructor raises.
        """
        if len(tiers) < 2:
            raise ConfigurationError("a store in tiers needs at least two", "name two or more")

        def behind(persistence: ThoughtStore, cache: ThoughtStore) -> ThoughtStore:
            return CachedStorage(cache, persistence)

        first, *rest = tiers
        return CachedStorage(
            first,
            reduce(behind, reversed(rest)),
            queue=queue,
            tenant=tenant,
            retry_after=retry_after,
        )

    @property
    def place(self) -> str:
        """Those of the tiers."""
        return ", ".join(store.place for store in self.tiers)

    @property
    def degraded(self) -> tuple[str, ...]:
        """What the tiers tell, which of them fail, what waits for them, what was refused."""
        return degraded_lines(self._layout, self._outbox, self._delivery, self.tenant)

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Append to the authority, or to the queue while it is down; see `ThoughtStore.append`.

        Raises:
            VersionConflict: Also when entries that waited for the authority were refused by it,
                and the run was not loaded again since; what was refused, `refused` tells.
            StorageError: The authority failed, and the queue too or there is none.
        """
        kept = tuple(entries)
        with anyio.CancelScope(shield=True):
            await self._appending.append(self.tenant, run, kept, expected_version, fence)

    async def claim(self, run_id: str) -> int:
        """Take a run over, at the authority; see `ThoughtStore.claim`.

        Returns:
            The number; 0 for a run that this process has created while the authority was down.

        Raises:
            StorageError: Also while entries of the run wait for the authority.
        """
        return await self._appending.claim(self.tenant, run_id)

    async def load(self, run_id: str) -> Run:
        """The run as the authority has it; while that is down, as this process knows it."""
        return await self._reading.load(self.tenant, run_id)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run; while the authority is down, those that pass through here."""
        steps = follow_tiers(self._layout, self._reading, self.tenant, run_id, after=after)
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, as the authority lists them; while it is down, as a copy or a cache does.

        A cursor goes on in the list that it came from only.
        """
        return await self._reading.recent(self.tenant, limit, cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions, by the last tier that works; `Hits.search` names those that do not."""
        return await self._reading.search(
            self.tenant, query, limit, only, deadline=time.monotonic() + _BEFORE_SEARCH_SECONDS
        )

    async def size(self, run_id: str) -> int:
        """The bytes of a run in the authority; while it is down, in another tier."""
        return await self._reading.size(self.tenant, run_id)

    async def delete(self, run_id: str) -> None:
        """Forget a run everywhere, what was refused of it too; tiers that are down do so later."""
        with anyio.CancelScope(shield=True):
            await self._appending.delete(self.tenant, run_id)

    async def refused(self) -> tuple[Refused, ...]:
        """Entries that waited for the authority and that it did not take.

        Others had gone on with the run meanwhile. They are kept until the run is deleted.

        Raises:
            StorageError: The queue cannot be read.
        """
        return tuple(await self._outbox.refused(self.tenant))

    async def catch_up(self) -> int:
        """Deliver what waits in the queue, then let each tier do what it has put off."""
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        await self._appending.pay_debts()
        left = 0
        for tier in (self._layout.authority, *self._layout.copies):
            left += await self._delivery.work_off(tier, deadline=deadline)
        for tier in self._layout.tiers:
            left += await self._delivery.look_after(tier)
        return left

    async def health(self) -> tuple[Health, ...]:
        """Every tier's parts, then the queue."""
        return await look_at_tiers(self._layout, self._outbox, self.tenant)

    def scoped(self, tenant: str) -> CachedStorage:
        """The same tiers and queue as another tenant sees them."""
        view = copy.copy(self)
        view.tenant, view._owned = tenant, False  # noqa: SLF001 - its own class
        return view

    async def aclose(self) -> None:
        """Deliver what can be delivered within some seconds, then close the tiers and the queue.

        On a view that `scoped` made this does nothing.
        """
        if not self._owned:
            return
        self._owned = False
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(_CLOSING_SECONDS):
                try:
                    deadline = time.monotonic() + _CLOSING_SECONDS
                    for tier in (self._layout.authority, *self._layout.copies):
                        tier.try_again()
                        await self._delivery.work_off(tier, deadline=deadline)
                except SifakaError:
                    pass  # the queue is on disk, or was lost anyway
            failures: list[StorageError] = []
            for close in (*(tier.store.aclose for tier in self._layout.tiers), self._outbox.aclose):
                try:
                    await close()
                except StorageError as failure:
                    failures.append(failure)
            if failures:
                raise failures[0]


def _tiers_of(store: ThoughtStore) -> tuple[ThoughtStore, ...]:
    return store.tiers if isinstance(store, CachedStorage) else (store,)


def _queue_of(queue: str | Path | None, *nested: ThoughtStore) -> Path | None:
    named = {Path(queue).absolute()} if queue is not None else set[Path]()
    named |= {store.queue for store in nested if isinstance(store, CachedStorage) and store.queue}
    if len(named) > 1:
        raise ConfigurationError(
            "the store and a tier inside it name different queues", "name one, at the outermost"
        )
    return next(iter(named), None)
