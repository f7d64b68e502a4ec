"""A store of one log with what is kept beside it: a cache, an outbox, indexes.

Writes go to the log, or to the outbox while the log is down; reads come from the log with what
waits for it, and from the cache while it is down.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import anyio

from sifaka.calls.context import fan_out
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
from sifaka.storage.cursor import page_of
from sifaka.storage.entry_json import extended
from sifaka.storage.log import LOOK_AGAIN, erase_each, every_run, load_if_there, push
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.outbox import Outbox, Refused, Waiting, queued_steps
from sifaka.storage.parts import (
    AnyPart,
    Part,
    count_of,
    degraded_lines,
    lay_out,
)
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage, SearchIndex, ThoughtStore
from sifaka.storage.store import Newest, TenantView

T = TypeVar("T")
logger = logging.getLogger(__name__)
_LISTED = 1000
_CACHED = 500
_INDEXED = 128
_BEFORE_SEARCH_SECONDS = 1.0
_CLOSING_SECONDS = 5.0


class CachedStorage(TenantView, ThoughtStore):
    """A `ThoughtStore` of one log and indexes of it, behind a cache and an outbox.

    The store that lasts is the log: versions, fences and claims are decided there, and an append
    has returned when it holds the entries. Search indexes get each run a moment later, from an
    outbox on disk. While the log is down, appends wait for it in the outbox,
    runs go on, and the cache in memory answers for it.

    All views share the parts, the outbox and the cache. Several processes may work off the same
    outbox: logs recognise the entries that they have, and a row leaves it only after it was
    delivered.

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
        ConfigurationError: A part is named twice, or not exactly one of them is a log that
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
        self.queue = Path(queue).absolute() if queue is not None else None
        self.tiers = (cache, persistence, *further)
        super().__init__(", ".join(part.place for part in self.tiers), tenant, self._release)
        self._log, self._indexes = lay_out(self.tiers, retry_after=retry_after)
        self._parts: tuple[AnyPart, ...] = (self._log, *self._indexes.values())
        if self.queue is None:
            # Nothing can wait for it, so it is asked each time.
            self._log.retry_after = 0.0
        self._outbox = Outbox(self.queue, self._log.name, list(self._indexes))
        self._cache: Newest[tuple[str, str], Run] = Newest(_CACHED)
        """The runs as this process knows that the log had them, by tenant and id."""
        self._indexed: Newest[tuple[str, str, str], tuple[int, bool]] = Newest(_INDEXED)
        """By index, tenant and run, how many versions it holds and whether it has them as passed.

        So that versions are put once.
        """
        self._owed: set[tuple[str, str]] = set()
        """Runs that indexes lack and that the outbox could not note."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """The parts that fail, the changes that wait and the entries that were refused."""
        return degraded_lines(self._log, self._indexes.values(), self._outbox, self.tenant)

    async def _ask_log(self, work: Callable[[ThoughtStore], Awaitable[T]]) -> T:
        """Ask the log, as the tenant sees it; see `Part.ask`."""
        return await self._log.ask(self.tenant, work)

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Append to the log, or to the outbox while it is down; see `ThoughtStore.append`.

        Raises:
            VersionConflict: Also when the log refused entries that had waited for it, and the run
                was not loaded again since; `refused` has them.
            StorageError: The log failed, and the outbox too or there is none.
        """
        kept, key = tuple(entries), (self.tenant, run.run_id)
        with anyio.CancelScope(shield=True):
            waiting = await self._read_queue(run.run_id)
            if key in self._outbox.refused:
                # The writer of what was refused may have as many entries as the log, but others.
                held = await self._ask_log(lambda log: load_if_there(log, run.run_id))
                # With another number of entries the log itself compares.
                same = held and held.version == expected_version
                if same and extended(held, kept) != run:
                    raise VersionConflict(
                        run.run_id, expected=expected_version, found=expected_version
                    )
            if kept:
                # Noted before, so that it is known when the process dies right after the answer.
                await self._mark_unindexed(run.run_id)
            if not waiting:
                await self._append_or_queue(run, kept, expected_version, fence)
            elif kept:
                await self._outbox.append(
                    self.tenant, run, kept, expected_version=expected_version, fence=fence
                )
            if kept:
                await self._mark_unindexed(run.run_id)

    async def _append_or_queue(
        self, run: Run, entries: tuple[Entry, ...], expected_version: int, fence: int | None
    ) -> None:
        try:
            await self._ask_log(
                lambda log: log.append(run, entries, expected_version=expected_version, fence=fence)
            )
            if entries:
                self._cache[self.tenant, run.run_id] = run
        except StorageError as failure:
            # What does not pass by itself, such as a wrong password, is no time to begin a run.
            cured = failure.retryable or expected_version
            if isinstance(failure, AppendRefused) or not (self.queue and entries and cured):
                raise
            try:
                await self._outbox.append(
                    self.tenant, run, entries, expected_version=expected_version, fence=fence
                )
            except AppendRefused:
                raise
            except StorageError as error:
                raise failure from error

    async def _mark_unindexed(self, run_id: str) -> None:
        try:
            await self._outbox.note(self.tenant, [run_id])
        except StorageError as failure:
            # The log decides about an append, never what comes after it.
            logger.warning("an index gets run %r late: %s", run_id, failure)
            self._owed.add((self.tenant, run_id))

    async def claim(self, run_id: str) -> int:
        """Take a run over, in the log; see `ThoughtStore.claim`.

        Returns:
            The number; 0 for a run that was created while the log was down.

        Raises:
            StorageError: Also while entries of the run wait for the log.
        """
        waiting = await self._read_queue(run_id)
        if waiting:
            # Once the log has some of it, other processes may have claimed it.
            if waiting[0].expected_version == 0:
                return 0
            raise self._waiting_error(run_id)
        return await self._ask_log(lambda log: log.claim(run_id))

    async def load(self, run_id: str) -> Run:
        """The run as the log has it; while that is down, as this process knows it."""
        rows = await self._read_queue(run_id)
        failure = self._log.failure
        if not rows:
            try:
                return await self._ask_log(lambda log: log.load(run_id))
            except StorageError as error:
                failure = error
        run = self._assemble_run(run_id, rows)
        if run is None:
            raise failure or StorageError(
                f"only the end of run {run_id!r} is known here", "try again in a moment"
            )
        return run

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run; while the log is down, those that pass through here."""
        seen = after
        run: Run | None = None
        while True:
            rows = await self._read_queue(run_id)
            if not rows:
                try:
                    # No attempt: whether it works now does not follow from what lasts for hours.
                    self._log.check()
                    async with aclosing(
                        self._log.inner.scoped(self.tenant).follow(run_id, after=seen)
                    ) as steps:
                        async for entry, run in steps:
                            yield entry, run
                            seen = run.version
                    return
                except StorageError as failure:
                    if not failure.retryable:
                        raise
            if run is None:
                # Whether there is such a run at all, and how far it has come.
                run = await self.load(run_id)
            for entry, at in queued_steps(self._cache.get((self.tenant, run_id)), rows) or ():
                if at.version > seen:
                    run, seen = at, at.version
                    yield entry, at
            if run.finished and run.version <= seen:
                return
            await anyio.sleep(LOOK_AGAIN)  # at the outbox

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, as the log lists them; while it is down, as the cache does."""
        await self._bring_up_to_date(self._log, time.monotonic() + _BEFORE_SEARCH_SECONDS)
        try:
            return await self._ask_log(lambda log: log.recent(limit=limit, cursor=cursor))
        except StorageError as failure:
            if not failure.retryable:
                raise
        runs = {run.run_id: run for run in self._cached_runs()}
        waiting = await self._outbox.runs(self._log.name)
        for owner, run_id in waiting[:_LISTED]:
            if owner == self.tenant:
                with suppress(StorageError, ThoughtNotFound):  # only its end is known here
                    runs[run_id] = await self.load(run_id)
        return page_of([run.summary() for run in runs.values()], limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions, by the last index that works, or by the log.

        `Hits.search` names those that do not work, and how many runs wait for the searched one.
        """
        deadline = time.monotonic() + _BEFORE_SEARCH_SECONDS
        lacks: list[str] = []
        failure: StorageError | None = None
        for part in reversed(self._parts):
            await self._bring_up_to_date(part, deadline)
            try:
                hits = await part.ask(
                    self.tenant, lambda view: view.search(query, limit=limit, only=only)
                )
            except StorageError as error:
                failure = failure or error
                lacks.append(f"{part.name} is down")
                continue
            if late := self._outbox.waiting.get(part.name, 0):
                lacks.append(f"{count_of(late, 'change')} not in it yet")
            return _add_gaps(hits, lacks)
        assert failure is not None, "a part that works answers"
        if not failure.retryable:
            raise failure
        return _add_gaps(search_runs(self._cached_runs(), query, limit=limit, only=only), lacks)

    async def delete(self, run_id: str) -> None:
        """Delete a run everywhere, refused entries too; an index that is down does so later.

        Raises:
            StorageError: The log failed, or entries of the run wait for it.
        """
        with anyio.CancelScope(shield=True):
            if await self._read_queue(run_id):
                raise self._waiting_error(run_id)
            await self._outbox.forget(self.tenant, [run_id])
            self._cache.pop((self.tenant, run_id), None)
            await self._ask_log(lambda log: log.delete(run_id))
            for index in self._indexes.values():
                await self._deliver(index, run_id)

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete runs everywhere, indexes that are down do so later; see `Eraser`.

        Runs of which entries wait for the log stay.
        """
        if not lines:
            await self.catch_up(seconds=60.0)
            return await self._ask_log(lambda log: erase_each(log, ()))
        gone = frozenset[str]()
        with anyio.CancelScope(shield=True):
            waiting = await self._outbox.runs(self._log.name)
            free = [line for line in lines if (self.tenant, line.run_id) not in waiting]
            ids = [line.run_id for line in free]
            for run_id in ids:
                self._cache.pop((self.tenant, run_id), None)
            # Noted before, so that it is known when the process dies right after the log's answer.
            await self._outbox.note(self.tenant, ids)
            gone = frozenset(ids) - await self._ask_log(lambda log: erase_each(log, free))
            await self._outbox.forget(self.tenant, gone)
        return frozenset(line.run_id for line in lines) - gone

    async def refused(self) -> tuple[Refused, ...]:
        """Entries that waited for the log and that it refused.

        Other processes had gone on with the run meanwhile. They are kept until it is deleted.
        """
        return tuple(await self._outbox.refusals(self.tenant))

    async def catch_up(self, *, seconds: float = 2.0) -> int:
        """Deliver what waits in the outbox, then let each part do what it has put off.

        Args:
            seconds: The time for delivering.
        """
        deadline = time.monotonic() + seconds
        for tenant, run_id in list(self._owed):
            await self._outbox.note(tenant, [run_id])
            self._owed.discard((tenant, run_id))
        left = 0
        for part in self._parts:
            left += await self._deliver_queue(part, deadline)
        for part in self._parts:
            left += await self._catch_up_part(part)
        return left

    async def index_missing(self) -> int:
        """Give the indexes what they lack of the tenant's runs; the number of such runs.

        Raises:
            StorageError: A part failed, or a run cannot be read.
        """
        while await self.catch_up():
            pass
        indexed = 0
        indexes = [part.inner.scoped(self.tenant) for part in self._indexes.values()]
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
        asks = {part.name: part.health for part in self._parts}  # all at the same time
        parts = chain.from_iterable(await fan_out(asks, calls_each=0))
        return (*parts, await self._outbox.health(self.tenant))

    async def _release(self) -> None:
        """Deliver what can be delivered within some seconds, then close parts and outbox."""
        self._close = None
        deadline = time.monotonic() + _CLOSING_SECONDS
        with anyio.CancelScope(shield=True):
            async with AsyncExitStack() as closing:
                for each in (self._outbox, *self.tiers):
                    closing.push_async_callback(each.aclose)
                # What fails is in the outbox on disk, or was lost anyway.
                with suppress(SifakaError), anyio.move_on_after(_CLOSING_SECONDS):
                    for part in self._parts:
                        part.try_again()
                        await self._deliver_queue(part, deadline)

    async def _bring_up_to_date(self, part: AnyPart, deadline: float) -> None:
        """Deliver what waits for a part, as far as that is possible by the deadline."""
        if self._outbox.empty:
            return
        # The outbox's failure is reported by `health`.
        with suppress(StorageError), anyio.move_on_after(max(0.0, deadline - time.monotonic())):
            # An event would belong to one event loop; the delivering task may be in another.
            while part.delivering:  # noqa: ASYNC110 - see above
                await anyio.sleep(0.01)
            await self._deliver_queue(part, deadline)

    async def _catch_up_part(self, part: AnyPart) -> int:
        """Let a part do what it has put off; how much is left that could be done now.

        When it would not do that and does now, the runs that it refused are tried again.
        """
        try:
            with part.attempt():
                left = await part.inner.catch_up()
        except StorageError:
            part.closed = True
            return 0
        if part.closed:
            left += len(part.aside)
            part.aside.clear()
        part.closed = False
        return left

    async def _deliver_queue(self, part: AnyPart, deadline: float) -> int:
        """Deliver what waits for one part, in order, until the time is over.

        Returns:
            How much is left that could be done now.

        Raises:
            StorageError: The outbox failed; that a part fails is noted there.
        """
        if part.delivering:
            return 0  # another task is at it
        part.delivering = True
        try:
            for tenant, run_id in part.ready(await self._outbox.runs(part.name)):
                if part.paused:
                    break
                if time.monotonic() >= deadline:
                    return self._outbox.waiting.get(part.name, 0)
                await self.scoped(tenant)._deliver(part, run_id)  # noqa: SLF001 - its own class
            return 0
        finally:
            part.delivering = False

    async def _read_queue(self, run_id: str) -> list[Waiting]:
        """The changes of a run that wait for the log, after an attempt to deliver them."""
        try:
            return await self._deliver(self._log, run_id)
        except StorageError:
            return []  # the outbox's failure is not the reader's: the log is asked

    async def _deliver(self, part: AnyPart, run_id: str) -> list[Waiting]:
        """Deliver what waits for a part about one run, if it will have it; what waits still.

        Raises:
            StorageError: The outbox failed.
        """
        about = (part.name, self.tenant, run_id)
        rows = await self._outbox.rows(*about)
        if not rows or part.paused:
            return rows
        index = self._indexes.get(part.name)
        try:
            if index is not None:
                await self._send_to_index(index, run_id, rows)
            else:
                await self._send_to_log(run_id, rows)
            part.aside.pop((self.tenant, run_id), None)
        except StorageError as failure:
            if not failure.retryable:
                # A part that works would not take it: it is tried again in a minute.
                part.aside[self.tenant, run_id] = time.monotonic() + 60, failure
        return await self._outbox.rows(*about)

    async def _send_to_log(self, run_id: str, rows: Sequence[Waiting]) -> None:
        run: Run | None = None
        for row in rows:
            try:
                run = await self._ask_log(partial(_push_row, row, run))
            except AppendRefused as refusal:
                # Another process went on with the run meanwhile. Its entries count.
                self._cache.pop((self.tenant, run_id), None)
                await self._outbox.refuse(self.tenant, run_id, refusal.message)
                return
            await self._outbox.remove([row])
            self._cache[self.tenant, run_id] = run

    async def _send_to_index(
        self, index: Part[SearchIndex], run_id: str, rows: Sequence[Waiting]
    ) -> None:
        # The log itself may be behind: the entries that wait for it are here.
        queued = await self._outbox.rows(self._log.name, self.tenant, run_id)
        run = self._assemble_run(run_id, queued)
        if run is None and queued:
            return
        if run is None:
            try:
                run = await self._ask_log(lambda log: load_if_there(log, run_id))
            except StorageError:
                return
        key = (index.name, self.tenant, run_id)
        count, passed = self._indexed.pop(key, (0, False))
        if run is None or any(row.kind == "delete" for row in rows):
            count = 0
            await index.ask(self.tenant, lambda view: view.drop(run_id))
        if run is not None:
            # Whether the run passes is said with each of its versions.
            first = count if passed == run.passed and count <= len(run.thoughts) else 0
            await index.ask(self.tenant, lambda view: view.put(run, first=first))
            self._indexed[key] = len(run.thoughts), run.passed
        await self._outbox.remove(rows)

    def _waiting_error(self, run_id: str) -> StorageError:
        return StorageError(
            f"entries of run {run_id!r} wait until {self._log.name} can be reached",
            "try again when it can",
            retryable=True,
        )

    def _cached_runs(self) -> list[Run]:
        return [run for (tenant, _), run in list(self._cache.items()) if tenant == self.tenant]

    def _assemble_run(self, run_id: str, queued: Sequence[Waiting]) -> Run | None:
        """A run with what waits for the log; None when not all of it is known here."""
        run = self._cache.get((self.tenant, run_id))
        steps = queued_steps(run, queued)
        if steps is None:
            return None
        return steps[-1][1] if steps else run


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


async def _push_row(row: Waiting, run: Run | None, log: ThoughtStore) -> Run:
    about = (row.run_id, row.expected_version, row.entries())
    try:
        return await push(log, *about, fence=row.fence, known=run)
    except VersionConflict as conflict:
        if conflict.found >= row.expected_version:
            raise
        # No writer shortens a run: the log has lost what is not there any more, and may know it.
        await log.catch_up()
        return await push(log, *about, fence=row.fence)


def _add_gaps(hits: Hits, lacks: Sequence[str]) -> Hits:
    if not lacks:
        return hits
    kind, lacked = hits.search, "; ".join(lacks)
    search = f"{kind[:-1]}; {lacked})" if kind.endswith(")") else f"{kind} ({lacked})"
    return hits.model_copy(update={"search": search})
