"""A store of one log with what is kept beside it: a cache, an outbox, indexes.

Writes go to the log, or to the outbox while the log is down; reads come from the log with what
waits for it, and from the cache while it is down.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from pathlib import Path

import anyio

from sifaka.errors import (
    AppendRefused,
    SifakaError,
    StorageError,
    ThoughtNotFound,
    VersionConflict,
)
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.bm25 import search_runs
from sifaka.storage.condition import degraded_lines, look_at_parts
from sifaka.storage.cursor import page_of
from sifaka.storage.delivery import Delivery, queued_steps
from sifaka.storage.entry_json import encode_entries, extended
from sifaka.storage.log import LOOK_AGAIN, every_run, load_if_there
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.outbox import Outbox, Refused
from sifaka.storage.outbox_tables import Waiting
from sifaka.storage.parts import AnyPart, lay_out
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage, SearchIndex, ThoughtStore
from sifaka.storage.store import TenantView, erase_each

logger = logging.getLogger(__name__)
_ERASING_SECONDS = 60.0
_LISTED = 1000
_BEFORE_SEARCH_SECONDS = 1.0
_CATCH_UP_SECONDS = 2.0
_CLOSING_SECONDS = 5.0


class CachedStorage(TenantView):
    """A `ThoughtStore` of one log and indexes of it, behind a cache and an outbox.

    The store that lasts is the log: versions, fences and claims are decided there, and an append
    has returned when it holds the entries. Search indexes get each run a moment later, from an
    outbox on disk. While the log is down, appends wait for it in the outbox,
    runs go on, and the cache in memory answers for it.

    Args:
        cache: `MemoryStorage()`, or any other part.
        persistence: What is behind it: a store, which may be made of parts itself, or a
            `SearchIndex`.
        further: More of them.
        queue: The file of the outbox, for as many processes as use these parts. Without one, runs
            wait for indexes in memory, and the log's failures are raised.
        tenant: The tenant whose runs are seen; it replaces the tenants of the parts.
        retry_after: Seconds in which a part that cannot be reached is not asked again.

    Raises:
        ConfigurationError: A part stands there twice, or not exactly one of them is a log that
            lasts.
    """

    def __init__(
        self,
        cache: ThoughtStore | SearchIndex,
        persistence: ThoughtStore | SearchIndex,
        *further: ThoughtStore | SearchIndex,
        queue: str | Path | None = None,
        tenant: str = "default",
        retry_after: float = 5.0,
    ) -> None:
        self.tenant = tenant
        self.queue = Path(queue).absolute() if queue is not None else None
        self.tiers = (cache, persistence, *further)
        log, indexes = lay_out(self.tiers, retry_after=retry_after)
        if self.queue is None:
            # Nothing can wait for it, so it is asked each time.
            log.retry_after = 0.0
        self._outbox = Outbox(self.queue)
        self._delivery = Delivery(log, indexes, self._outbox)
        self._created: set[tuple[str, str]] = set()
        """Runs that this process began while the log was down."""
        self._owed: set[tuple[str, str]] = set()
        """Runs that indexes lack and that the outbox could not note."""

    @property
    def place(self) -> str:
        """Those of the parts."""
        return ", ".join(part.place for part in self.tiers)

    @property
    def degraded(self) -> tuple[str, ...]:
        """The parts that fail, the changes that wait and the entries that were refused."""
        return degraded_lines(self._delivery, self.tenant)

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Append to the log, or to the outbox while it is down; see `ThoughtStore.append`.

        Raises:
            VersionConflict: Also when the log refused entries that had waited for it, and the run
                was not loaded again since; `refused` has them.
            StorageError: The log failed, and the outbox too or there is none.
        """
        kept = tuple(entries)
        with anyio.CancelScope(shield=True):
            await self._append(run, kept, expected_version, fence)

    async def claim(self, run_id: str) -> int:
        """Take a run over, in the log; see `ThoughtStore.claim`.

        Returns:
            The number; 0 for a run that this process has created while the log was down.

        Raises:
            StorageError: Also while entries of the run wait for the log.
        """
        log, waiting = self._delivery.log, await self._delivery.waiting(self.tenant, run_id)
        if waiting:
            # Once the log has it, other processes may have claimed it.
            if (self.tenant, run_id) in self._created and waiting[0].expected_version == 0:
                return 0
            raise StorageError(
                f"entries of run {run_id!r} wait until {log.name} can be reached",
                "try again when it can",
                retryable=True,
            )
        with log.attempt():
            return await self._log.claim(run_id)

    async def delete(self, run_id: str) -> None:
        """Delete a run everywhere, refused entries too; parts that are down do so later."""
        delivery, outbox = self._delivery, self._outbox
        with anyio.CancelScope(shield=True):
            await outbox.forget(self.tenant, [run_id], delivery.index_names)
            self._evict([run_id])
            try:
                with delivery.log.attempt():
                    await self._log.delete(run_id)
            except StorageError:
                if not outbox.durable:
                    raise
                await outbox.put([Waiting(delivery.log.name, self.tenant, run_id, "delete")])
            for index in delivery.indexes:
                if not index.paused:
                    await delivery.deliver(index, self.tenant, run_id)

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete runs everywhere, parts that are down do so later; see `Eraser`.

        Runs of which entries wait for the log stay.
        """
        delivery, outbox = self._delivery, self._outbox
        if not lines:
            await self._erase_traces()
            return frozenset()
        gone = frozenset[str]()
        with anyio.CancelScope(shield=True):
            waiting = await outbox.runs(delivery.log.name)
            free = [line for line in lines if (self.tenant, line.run_id) not in waiting]
            ids = [line.run_id for line in free]
            self._evict(ids)
            # Noted before, so that it is known when the process dies right after the log's answer.
            await outbox.put(delivery.copies(self.tenant, ids))
            with delivery.log.attempt():
                stayed = await erase_each(self._log, free)
            gone = frozenset(ids) - stayed
            await outbox.forget(self.tenant, gone, delivery.index_names)
        return frozenset(line.run_id for line in lines) - gone

    def _evict(self, run_ids: Sequence[str]) -> None:
        for run_id in run_ids:
            self._delivery.cache.evict(self.tenant, run_id)
            self._created.discard((self.tenant, run_id))

    async def _erase_traces(self) -> None:
        deadline = time.monotonic() + _ERASING_SECONDS
        for index in self._delivery.indexes:
            await self._delivery.work_off(index, deadline=deadline)
            await self._delivery.look_after(index)
        await erase_each(self._log, ())

    async def _append(
        self, run: Run, entries: tuple[Entry, ...], expected_version: int, fence: int | None
    ) -> None:
        tenant, run_id, log = self.tenant, run.run_id, self._delivery.log
        waiting = await self._delivery.waiting(tenant, run_id)
        if (tenant, run_id) in self._outbox.known.refused:
            await self._check_descent(run, entries, expected_version)
        if entries:
            # Noted before, so that it is known when the process dies right after the log's answer.
            await self._mark(run_id)
        failure: StorageError | None = None
        if not waiting:
            try:
                with log.attempt():
                    await self._log.append(
                        run, entries, expected_version=expected_version, fence=fence
                    )
            except AppendRefused:
                raise
            except StorageError as error:
                # What does not pass by itself, such as a wrong password, is no time to begin a run.
                cured = error.retryable or expected_version
                if not self._outbox.durable or not entries or not cured:
                    raise
                failure = error
            else:
                self._created.discard((tenant, run_id))
                if entries:
                    self._delivery.cache.keep(tenant, run, entries, after=expected_version)
                    await self._mark(run_id)
                return
        if not entries:
            return
        payloads = encode_entries(run, entries, expected_version)
        row = Waiting(log.name, tenant, run_id, "append", expected_version, fence, payloads)
        try:
            await self._outbox.put([row])
        except VersionConflict:
            raise
        except StorageError as error:
            raise failure or error from error
        if expected_version == 0:
            self._created.add((tenant, run_id))
        await self._mark(run_id)

    async def _check_descent(
        self, run: Run, entries: Sequence[Entry], expected_version: int
    ) -> None:
        # The writer of what was refused may have as many entries as the log, but other ones.
        with self._delivery.log.attempt():
            held = await load_if_there(self._log, run.run_id)
        # With another number of entries the log itself compares.
        if held and held.version == expected_version and extended(held, entries) != run:
            raise VersionConflict(run.run_id, expected=expected_version, found=expected_version)

    async def _mark(self, run_id: str) -> None:
        try:
            await self._outbox.put(self._delivery.copies(self.tenant, [run_id]))
        except StorageError as failure:
            # The log decides about an append, never what comes after it.
            logger.warning("an index gets run %r late: %s", run_id, failure)
            self._owed.add((self.tenant, run_id))

    async def load(self, run_id: str) -> Run:
        """The run as the log has it; while that is down, as this process knows it."""
        rows, log = await self._delivery.waiting(self.tenant, run_id), self._delivery.log
        failure = log.failure
        if not rows:
            try:
                with log.attempt():
                    return await self._log.load(run_id)
            except StorageError as error:
                failure = error
        elif rows[-1].kind == "delete":
            raise ThoughtNotFound(run_id)
        run = self._delivery.at_hand(self.tenant, run_id, rows)
        if run is None:
            raise failure or StorageError(
                f"only the end of run {run_id!r} is known here", "try again in a moment"
            )
        return run

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run; while the log is down, those that pass through here."""
        known = after
        run: Run | None = None
        while True:
            rows = await self._delivery.waiting(self.tenant, run_id)
            if not rows:
                try:
                    # No attempt: whether it works now does not follow from what lasts for hours.
                    self._delivery.log.check()
                    async with aclosing(self._log.follow(run_id, after=known)) as steps:
                        async for entry, run in steps:
                            yield entry, run
                            known = run.version
                    return
                except StorageError as failure:
                    if not failure.retryable:
                        raise
            if run is None:
                # Whether there is such a run at all, and how far it has come.
                run = await self.load(run_id)
            cached = self._delivery.cached(self.tenant, run_id)
            for entry, at in queued_steps(cached, rows) or ():
                if at.version > known:
                    run, known = at, at.version
                    yield entry, at
            if run.finished and run.version <= known:
                return
            await anyio.sleep(LOOK_AGAIN)  # at the outbox

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, as the log lists them; while it is down, as the cache does."""
        log = self._delivery.log
        await self._bring_up_to_date(log, time.monotonic() + _BEFORE_SEARCH_SECONDS)
        try:
            with log.attempt():
                return await self._log.recent(limit=limit, cursor=cursor)
        except StorageError as failure:
            if not failure.retryable:
                raise
        latest = {line.run_id: line for line in await self._known_lines()}.values()
        return page_of(latest, limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions, by the last index that works, or by the log.

        `Hits.search` names those that do not work, and how many runs wait for the searched one.
        """
        deadline = time.monotonic() + _BEFORE_SEARCH_SECONDS
        down: list[str] = []
        failure: StorageError | None = None
        for part in reversed(self._delivery.parts):
            await self._bring_up_to_date(part, deadline)
            try:
                with part.attempt():
                    view = part.inner.scoped(self.tenant)
                    hits = await view.search(query, limit=limit, only=only)
            except StorageError as error:
                failure = failure or error
                down.append(f"{part.name} is down")
                continue
            late = self._outbox.known.waiting.get(part.name, 0)
            changes = "1 change is" if late == 1 else f"{late} changes are"
            lacks = [*down, *([f"{changes} not in it yet"] if late else [])]
            return hits.model_copy(update={"search": _lacking(hits.search, lacks)})
        assert failure is not None, "a part that works answers"
        if not failure.retryable:
            raise failure
        hits = search_runs(self._delivery.cache.runs(self.tenant), query, limit=limit, only=only)
        return hits.model_copy(update={"search": _lacking(hits.search, down)})

    async def size(self, run_id: str) -> int:
        """The bytes of a run in the log."""
        await self._delivery.waiting(self.tenant, run_id)
        with self._delivery.log.attempt():
            return await self._log.size(run_id)

    async def _bring_up_to_date(self, part: AnyPart, deadline: float) -> None:
        """Deliver what waits for a part, as far as that is possible by the deadline."""
        if not self._outbox.empty:
            with anyio.move_on_after(max(0.0, deadline - time.monotonic())):
                # An event would belong to one event loop; the delivering task may be in another.
                while part.delivering:  # noqa: ASYNC110 - see above
                    await anyio.sleep(0.01)
                try:
                    await self._delivery.work_off(part, deadline=deadline)
                except StorageError:
                    return  # the outbox's failure is told by `health`

    async def _known_lines(self) -> list[RunSummary]:
        """A line for each run that is known here, or several, of which the last counts."""
        lines = [run.summary() for run in self._delivery.cache.runs(self.tenant)]
        waiting = await self._outbox.runs(self._delivery.log.name)
        for owner, run_id in waiting[:_LISTED]:
            if owner == self.tenant:
                try:
                    lines.append((await self.load(run_id)).summary())
                except (StorageError, ThoughtNotFound):
                    continue  # only its end is known here
        return lines

    async def refused(self) -> tuple[Refused, ...]:
        """Entries that waited for the log and that it refused.

        Other processes had gone on with the run meanwhile. They are kept until it is deleted.
        """
        return tuple(await self._outbox.refused(self.tenant))

    async def catch_up(self) -> int:
        """Deliver what waits in the outbox, then let each part do what it has put off."""
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        for tenant, run_id in list(self._owed):
            await self._outbox.put(self._delivery.copies(tenant, [run_id]))
            self._owed.discard((tenant, run_id))
        left = 0
        for part in self._delivery.parts:
            left += await self._delivery.work_off(part, deadline=deadline)
        for part in self._delivery.parts:
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
        indexes = [part.inner.scoped(self.tenant) for part in self._delivery.indexes]
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
        return await look_at_parts(self._delivery, self.tenant)

    async def _release(self) -> None:
        """Deliver what can be delivered within some seconds, then close parts and outbox."""
        self._owned = False
        deadline = time.monotonic() + _CLOSING_SECONDS
        with anyio.CancelScope(shield=True):
            async with AsyncExitStack() as closing:
                for each in (self._outbox, *self.tiers):
                    closing.push_async_callback(each.aclose)
                # What fails is in the outbox on disk, or was lost anyway.
                with suppress(SifakaError), anyio.move_on_after(_CLOSING_SECONDS):
                    for part in self._delivery.parts:
                        part.try_again()
                        await self._delivery.work_off(part, deadline=deadline)

    @property
    def _log(self) -> ThoughtStore:
        """The log as the tenant sees it."""
        return self._delivery.log.inner.scoped(self.tenant)


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


def _lacking(search: str, lacks: Sequence[str]) -> str:
    if not lacks:
        return search
    if search.endswith(")"):
        return f"{search[:-1]}; {'; '.join(lacks)})"
    return f"{search} ({'; '.join(lacks)})"
