"""A store of one log with what is kept beside it: a cache, an outbox, an index, copies."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import anyio

from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.storage.delivery import Delivery
from sifaka.storage.log import Health, every_run
from sifaka.storage.memory import MemoryStorage, RunCache
from sifaka.storage.outbox import Outbox, Refused
from sifaka.storage.parts import Layout, Part, Replica, lay_out
from sifaka.storage.protocol import SearchIndex, ThoughtStore
from sifaka.storage.reader import StoreReader
from sifaka.storage.writer import StoreWriter

_LOOKING_SECONDS = 5.0
_NAMED = 3
"""Runs that are named one by one; further ones are counted."""


def degraded_lines(
    layout: Layout, outbox: Outbox, delivery: Delivery, tenant: str
) -> tuple[str, ...]:
    """The known failures: of the parts, of the outbox, of this tenant's runs."""
    stores = [layout.log.inner, *(copy.inner for copy in layout.copies)]
    lines = [line for store in stores for line in store.degraded]
    where = "on disk" if outbox.durable else "in memory"
    for part in layout.parts:
        waiting = outbox.known.waiting.get(part.name, 0)
        of_log = part is layout.log
        if part.failure is not None:
            count = _count(waiting, "append" if of_log else "run")
            queued = f"; {count} queued {where}" if waiting else ""
            named = "" if part.name in part.failure.message else f"{part.name}: "
            lines.append(f"{named}{part.failure.message}{queued}")
        elif waiting and of_log:
            lines.append(f"{part.name}: {_count(waiting, 'append')} still queued {where}")
    if outbox.failure is not None:
        lines.append(f"queue: {outbox.failure.message}")
    names = {part.name for part in layout.parts}
    failing = {(part.name, part.failure.message) for part in layout.parts if part.failure}
    lines += [
        f"{name}: {_count(count, 'append')} queued {where} for it, and the store has no such part "
        "now"
        for name, count in outbox.known.waiting.items()
        if name not in names
    ]
    undelivered = [
        f"{name}: run {run_id!r} is not delivered: {failure.message}"
        for name, run_id, failure in delivery.put_aside(tenant)
        if (name, failure.message) not in failing
    ]
    lines += _some(undelivered, "more runs are not delivered")
    return (*lines, *_refusals(layout, outbox, tenant))


async def look_at_parts(layout: Layout, outbox: Outbox, tenant: str) -> tuple[Health, ...]:
    """The health of every part, looked at at the same time, then of the outbox."""
    found: dict[str, tuple[Health, ...]] = {}

    async def look(part: Part[ThoughtStore] | Replica) -> None:
        try:
            with anyio.fail_after(_LOOKING_SECONDS):
                found[part.name] = await part.inner.health()
        except StorageError as failure:
            found[part.name] = (Health(part=part.name, works=False, found=str(failure)),)
        except TimeoutError:
            slow = f"no answer within {_LOOKING_SECONDS:g} seconds"
            found[part.name] = (Health(part=part.name, works=False, found=slow),)
        if all(line.works for line in found[part.name]):
            part.try_again()

    async with anyio.create_task_group() as group:
        for part in layout.parts:
            group.start_soon(look, part)
    lines = [line for part in layout.parts for line in found[part.name]]
    return (*lines, await _queue(layout, outbox, tenant))


async def _queue(layout: Layout, outbox: Outbox, tenant: str) -> Health:
    part = f"queue {str(outbox.path)!r}" if outbox.path else "queue in memory"
    try:
        since = await outbox.oldest()
    except StorageError as failure:
        return Health(part=part, works=False, found=str(failure))
    if refusals := _refusals(layout, outbox, tenant):
        return Health(part=part, works=False, found="; ".join(refusals))
    if since is None:
        return Health(part=part, works=True, found="nothing waits")
    waiting = ", ".join(f"{count} for {name}" for name, count in outbox.known.waiting.items())
    return Health(part=part, works=True, found=f"{waiting} wait, the first since {since:%F %T} UTC")


def _refusals(layout: Layout, outbox: Outbox, tenant: str) -> list[str]:
    refusals = [
        f"{layout.log.name}: {'1 entry' if count == 1 else f'{count} entries'} of run {run_id!r}, "
        f"appended while it was down, {'was' if count == 1 else 'were'} refused because another "
        "process had continued the run; the queue keeps them until the run is deleted"
        for (owner, run_id), count in outbox.known.refused.items()
        if owner == tenant
    ]
    return _some(refusals, "more runs have entries that were refused")


def _some(lines: list[str], more: str) -> list[str]:
    rest = len(lines) - _NAMED
    return lines if rest <= 0 else [*lines[:_NAMED], f"{rest} {more}"]


def _count(number: int, noun: str) -> str:
    return f"1 {noun} is" if number == 1 else f"{number} {noun}s are"


_CATCH_UP_SECONDS = 2.0
_CLOSING_SECONDS = 5.0


class CachedStorage(StoreReader, StoreWriter):
    """A `ThoughtStore` of one log, an index of it and copies, behind a cache and an outbox.

    The first store that lasts is the log: versions, fences and claims are decided there, and an
    append has returned when it holds the entries. Search indexes and further stores get each run a
    moment later, from an outbox on disk. While the log is down, appends wait for it in the outbox,
    runs go on, and the cache in memory answers for it.

    Args:
        cache: `MemoryStorage()`, or any other part.
        persistence: The parts behind it: a store, a `SearchIndex`, or another `CachedStorage`,
            whose parts are taken instead of it.
        queue: The file of the outbox, for as many processes as use these parts. Without one, runs
            wait for replicas in memory, and the log's failures are raised.
        tenant: The tenant whose runs are seen; it replaces the tenants of the parts.
        retry_after: Seconds in which a part that cannot be reached is not asked again.

    Raises:
        ConfigurationError: A part stands there twice, none of them is a log, or two files are named
            for the outbox.
    """

    def __init__(
        self,
        cache: ThoughtStore | SearchIndex,
        persistence: ThoughtStore | SearchIndex,
        *,
        queue: str | Path | None = None,
        tenant: str = "default",
        retry_after: float = 5.0,
    ) -> None:
        self.tenant = tenant
        self.queue = _queue_of(queue, cache, persistence)
        self.tiers = (*_parts_of(cache), *_parts_of(persistence))
        self._layout = lay_out(self.tiers, retry_after=retry_after)
        if self.queue is None:
            # Nothing can wait for it, so it is asked each time.
            self._layout.log.retry_after = 0.0
        self._cache = RunCache()
        self._outbox = Outbox(self.queue)
        self._delivery = Delivery(self._layout, self._cache, self._outbox)
        self._created = set()
        self._owed = set()

    @classmethod
    def of(
        cls,
        tiers: Sequence[ThoughtStore | SearchIndex],
        *,
        queue: str | Path | None = None,
        tenant: str = "default",
        retry_after: float = 5.0,
    ) -> CachedStorage:
        """The same from a list of parts."""
        if len(tiers) < 2:
            raise ConfigurationError(
                "a composed store needs at least two parts", "name two or more"
            )
        first, second, *rest = tiers
        for following in rest:
            first, second = CachedStorage(first, second), following
        return CachedStorage(first, second, queue=queue, tenant=tenant, retry_after=retry_after)

    @property
    def place(self) -> str:
        """Those of the parts."""
        return ", ".join(part.place for part in self.tiers)

    @property
    def degraded(self) -> tuple[str, ...]:
        """The parts that fail, the changes that wait and the entries that were refused."""
        return degraded_lines(self._layout, self._outbox, self._delivery, self.tenant)

    async def refused(self) -> tuple[Refused, ...]:
        """Entries that waited for the log and that it refused.

        Other processes had gone on with the run meanwhile. They are kept until it is deleted.
        """
        return tuple(await self._outbox.refused(self.tenant))

    async def catch_up(self) -> int:
        """Deliver what waits in the outbox, then let each part do what it has put off."""
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        await self.mark_owed()
        left = 0
        for part in self._layout.parts:
            left += await self._delivery.work_off(part, deadline=deadline)
        for part in self._layout.parts:
            left += await self._delivery.look_after(part)
        return left

    async def index_missing(self) -> int:
        """Give the indexes what they lack of the tenant's runs; the number of such runs.

        Raises:
            StorageError: A part failed, or a run cannot be read.
        """
        while await self.catch_up():
            pass
        indexed = 0
        indexes = [part.inner.scoped(self.tenant) for part in self._layout.indexes]
        async with aclosing(every_run(self)) as lines:
            async for line in lines:
                run = await self.load(line.run_id)
                lacking = [i for i in indexes if await i.thoughts(run.run_id) != run.thoughts]
                for index in lacking:
                    await index.put(run)
                indexed += bool(lacking)
        return indexed

    async def health(self) -> tuple[Health, ...]:
        """That of every part, then the outbox."""
        return await look_at_parts(self._layout, self._outbox, self.tenant)

    async def _release(self) -> None:
        """Deliver what can be delivered within some seconds, then close parts and outbox."""
        self._owned = False
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(_CLOSING_SECONDS):
                try:
                    deadline = time.monotonic() + _CLOSING_SECONDS
                    for part in self._layout.parts:
                        part.try_again()
                        await self._delivery.work_off(part, deadline=deadline)
                except SifakaError:
                    pass  # the outbox is on disk, or was lost anyway
            failures: list[StorageError] = []
            for close in (*(tier.aclose for tier in self.tiers), self._outbox.aclose):
                try:
                    await close()
                except StorageError as failure:
                    failures.append(failure)
            if failures:
                raise failures[0]


class CachedCheckpointStorage(CachedStorage):
    """Memory in front of one store, for `Chain(checkpoint_storage=...)`.

    A run whose process dies goes on after its last entry that the store holds.

    Args:
        storage: Where runs are kept.
        queue: A file in which appends wait while the store is down. Without one its failures are
            raised, and a chain keeps what it could not store in memory.
        tenant: The tenant whose runs are seen.
    """

    def __init__(
        self, storage: ThoughtStore, *, queue: str | Path | None = None, tenant: str = "default"
    ) -> None:
        super().__init__(MemoryStorage(), storage, queue=queue, tenant=tenant)


def _parts_of(store: ThoughtStore | SearchIndex) -> tuple[ThoughtStore | SearchIndex, ...]:
    return store.tiers if isinstance(store, CachedStorage) else (store,)


def _queue_of(queue: str | Path | None, *nested: object) -> Path | None:
    named = {Path(queue).absolute()} if queue is not None else set[Path]()
    named |= {store.queue for store in nested if isinstance(store, CachedStorage) and store.queue}
    if len(named) > 1:
        raise ConfigurationError(
            "the store and a part inside it name different queues", "name one, at the outermost"
        )
    return next(iter(named), None)
