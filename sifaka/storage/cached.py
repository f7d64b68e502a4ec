"""A store of one log with what is kept beside it: a cache, an outbox, an index, copies."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.storage.cache import RunCache
from sifaka.storage.delivery import Delivery
from sifaka.storage.health import degraded_lines, look_at_parts
from sifaka.storage.index import SearchIndex
from sifaka.storage.layout import lay_out
from sifaka.storage.log import Health
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.outbox import Outbox, Refused
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.reader import StoreReader
from sifaka.storage.writer import StoreWriter

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
        self._cursor_key = secrets.token_bytes(16)
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
