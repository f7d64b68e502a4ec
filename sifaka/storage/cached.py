"""A store of one log with what is kept beside it: a cache, an outbox, an index, copies."""

from __future__ import annotations

import copy
import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import anyio

from sifaka.errors import (
    AppendRefused,
    ConfigurationError,
    SifakaError,
    StorageError,
    ThoughtNotFound,
    VersionConflict,
)
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cache import RunCache, State
from sifaka.storage.cursor import decode_cursor, encode_cursor, position
from sifaka.storage.delivery import Delivery, Layout, after_queue, push
from sifaka.storage.entry_json import apply_entry, encode_entries
from sifaka.storage.health import degraded_lines, look_at_parts
from sifaka.storage.index import ANY, Filters, Hits, SearchIndex
from sifaka.storage.log import LOOK_AGAIN
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.outbox import Outbox, Refused, Waiting
from sifaka.storage.parts import Part
from sifaka.storage.protocol import Health, RunPage, ThoughtStore
from sifaka.storage.replicas import CopyReplica, IndexReplica, Replica
from sifaka.storage.scan import search_runs

logger = logging.getLogger(__name__)
_CATCH_UP_SECONDS = 2.0
_BEFORE_SEARCH_SECONDS = 1.0
_CLOSING_SECONDS = 5.0
_HELPING_SECONDS = 0.25
_LONG_QUEUE = 200
"""How many runs may wait for a replica before appends help to deliver them."""


class CachedStorage:
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
        tenant: Whose runs are seen, whatever the parts were opened for.
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
        self._owned = True
        self._layout = _lay_out(self.tiers, retry_after=retry_after)
        if self.queue is None:
            # Nothing can wait for it, so it is asked each time.
            self._layout.log.retry_after = 0.0
        self._cache = RunCache()
        self._outbox = Outbox(self.queue)
        self._delivery = Delivery(self._layout, self._cache, self._outbox)
        self._created: set[tuple[str, str]] = set()
        """Runs that this process began while the log was down."""
        self._owed: set[tuple[str, str]] = set()
        """Runs that replicas lack, which could not be noted in the outbox."""
        self._cursor_key = secrets.token_bytes(16)

    @classmethod
    def of(
        cls,
        tiers: Sequence[ThoughtStore | SearchIndex],
        *,
        queue: str | Path | None = None,
        tenant: str = "default",
        retry_after: float = 5.0,
    ) -> CachedStorage:
        """The same from a list of parts.

        Raises:
            ConfigurationError: There are fewer than two, or what the constructor raises.
        """
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
        """Which parts fail, what waits for them, what was refused."""
        return degraded_lines(self._layout, self._outbox, self._delivery, self.tenant)

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Append to the log, or to the outbox while it is down; see `RunLog.append`.

        Raises:
            VersionConflict: Also when the log refused entries that had waited for it, and the run
                was not loaded again since; `refused` has them.
            StorageError: The log failed, and the outbox too or there is none.
        """
        kept = tuple(entries)
        with anyio.CancelScope(shield=True):
            await self._append(run, kept, expected_version, fence)

    async def claim(self, run_id: str) -> int:
        """Take a run over, in the log; see `RunLog.claim`.

        Returns:
            The number; 0 for a run that this process has created while the log was down.

        Raises:
            StorageError: Also while entries of the run wait for the log.
        """
        log, waiting = self._layout.log, await self._waiting(run_id)
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

    async def load(self, run_id: str) -> Run:
        """The run as the log has it; while that is down, as this process knows it."""
        rows, log = await self._waiting(run_id), self._layout.log
        failure: StorageError | None = None
        if not rows:
            try:
                with log.attempt():
                    return await self._log.load(run_id)
            except ThoughtNotFound:
                archive = await self._archive(run_id)
                if archive is None:
                    raise
                return await archive.load(run_id)
            except StorageError as error:
                failure = error
        return await self._without_log(run_id, rows, failure or log.failure)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run; while the log is down, those that pass through here."""
        log, known = self._layout.log, after
        run: Run | None = None
        while True:
            rows = await self._waiting(run_id)
            try:
                if not rows:
                    # No attempt: whether it works now does not follow from what lasts for hours.
                    log.check()
                    async with aclosing(self._log.follow(run_id, after=known)) as steps:
                        async for entry, run in steps:
                            yield entry, run
                            known = run.version
                    return
            except ThoughtNotFound:
                archive = await self._archive(run_id)
                if archive is None or known > after:
                    raise
                async with aclosing(archive.follow(run_id, after=known)) as steps:
                    async for step in steps:
                        yield step
                return
            except StorageError as failure:
                if not failure.retryable and not rows:
                    raise
                if run is None:
                    # Whether there is such a run at all, and how far it has come.
                    run = await self.load(run_id)
            for row in rows:
                for number, entry in enumerate(row.entries(), row.expected_version + 1):
                    if number > known:
                        run = await self._at(run_id, run, entry, number)
                        yield entry, run
                        known = number
            if run is not None and run.finished and run.version <= known:
                return
            await anyio.sleep(LOOK_AGAIN)  # at the outbox

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, as the log lists them; while it is down, as a copy or the cache does.

        A cursor goes on in the list that it came from only.
        """
        failure: StorageError | None = None
        for part in (self._layout.log, *self._copies):
            await self._bring_up_to_date(part, time.monotonic() + _BEFORE_SEARCH_SECONDS)
            try:
                with part.attempt():
                    return await part.inner.scoped(self.tenant).recent(limit=limit, cursor=cursor)
            except StorageError as error:
                failure = failure or error
        assert failure is not None, "a part that works answers"
        if not failure.retryable:
            raise failure
        return self._page(await self._known_lines(), limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions, by the last index, copy or log that works.

        `Hits.search` names those that do not work, and how many runs wait for the searched one.
        """
        deadline = time.monotonic() + _BEFORE_SEARCH_SECONDS
        down: list[str] = []
        failure: StorageError | None = None
        for part in (*reversed(self._indexes), *reversed(self._copies), self._layout.log):
            await self._bring_up_to_date(part, deadline)
            try:
                hits = await part.search(self.tenant, query, limit, only)
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
        hits = search_runs(self._cache.runs(self.tenant), query, limit=limit, only=only)
        return hits.model_copy(update={"search": _lacking(hits.search, down)})

    async def size(self, run_id: str) -> int:
        """The bytes of a run in the log; while it is down, in a copy."""
        await self._waiting(run_id)
        failure: StorageError | None = None
        for part in (self._layout.log, *self._copies):
            try:
                with part.attempt():
                    return await part.inner.scoped(self.tenant).size(run_id)
            except ThoughtNotFound:
                archive = None if failure else await self._archive(run_id)
                if archive is not None:
                    return await archive.size(run_id)
                if failure is None:
                    raise
            except StorageError as error:
                failure = failure or error
        assert failure is not None, "a part that works answers"
        raise failure

    async def delete(self, run_id: str) -> None:
        """Delete a run everywhere, refused entries too; parts that are down do so later."""
        layout, outbox = self._layout, self._outbox
        with anyio.CancelScope(shield=True):
            await outbox.forget(self.tenant, run_id, layout.names)
            self._cache.evict(self.tenant, run_id)
            self._created.discard((self.tenant, run_id))
            try:
                with layout.log.attempt():
                    await self._log.delete(run_id)
            except StorageError:
                if not outbox.durable:
                    raise
                await outbox.put([Waiting(layout.log.name, self.tenant, run_id, "delete")])
            for replica in layout.replicas:
                if not replica.paused:
                    await self._delivery.deliver(replica, self.tenant, run_id)

    async def refused(self) -> tuple[Refused, ...]:
        """Entries that waited for the log and that it refused.

        Other processes had gone on with the run meanwhile. They are kept until it is deleted.

        Raises:
            StorageError: The outbox cannot be read.
        """
        return tuple(await self._outbox.refused(self.tenant))

    async def catch_up(self) -> int:
        """Deliver what waits in the outbox, then let each part do what it has put off."""
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        for tenant, run_id in list(self._owed):
            await self._outbox.mark(self._layout.names, tenant, run_id)
            self._owed.discard((tenant, run_id))
        left = 0
        for part in self._layout.parts:
            left += await self._delivery.work_off(part, deadline=deadline)
        for part in self._layout.parts:
            left += await self._delivery.look_after(part)
        return left

    async def health(self) -> tuple[Health, ...]:
        """That of every part, then the outbox."""
        return await look_at_parts(self._layout, self._outbox, self.tenant)

    def scoped(self, tenant: str) -> CachedStorage:
        """The same parts and outbox as another tenant sees them."""
        view = copy.copy(self)
        view.tenant, view._owned = tenant, False  # noqa: SLF001 - its own class
        return view

    async def aclose(self) -> None:
        """Deliver what can be delivered within some seconds, then close parts and outbox.

        On a view that `scoped` made this does nothing.
        """
        if not self._owned:
            return
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

    @property
    def _log(self) -> ThoughtStore:
        return self._layout.log.inner.scoped(self.tenant)

    @property
    def _copies(self) -> list[CopyReplica]:
        return [each for each in self._layout.replicas if isinstance(each, CopyReplica)]

    @property
    def _indexes(self) -> list[IndexReplica]:
        return [each for each in self._layout.replicas if isinstance(each, IndexReplica)]

    async def _append(
        self, run: Run, entries: tuple[Entry, ...], expected_version: int, fence: int | None
    ) -> None:
        tenant, run_id, log = self.tenant, run.run_id, self._layout.log
        waiting = await self._ahead(run, entries, expected_version)
        if entries:
            # Noted before, so that it is known when the process dies right after the log's answer.
            await self._mark(run_id)
        failure: StorageError | None = None
        if not waiting:
            try:
                await self._decide(run, entries, expected_version, fence)
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
                    self._cache.keep(tenant, run, entries, after=expected_version)
                    await self._mark(run_id)
                await self._help()
                return
        payloads = encode_entries(run, entries, expected_version)
        row = Waiting(log.name, tenant, run_id, "append", expected_version, fence, payloads)
        try:
            await self._outbox.put_append(row)
        except VersionConflict:
            raise
        except StorageError as error:
            raise failure or error from error
        if expected_version == 0:
            self._created.add((tenant, run_id))
        await self._mark(run_id)

    async def _decide(
        self, run: Run, entries: Sequence[Entry], expected_version: int, fence: int | None
    ) -> None:
        """Have the log decide about an append."""
        with self._layout.log.attempt():
            view = self._log
            try:
                await view.append(run, entries, expected_version=expected_version, fence=fence)
            except VersionConflict as conflict:
                # A server that broke down may have forgotten what it had acknowledged last. A run
                # of which it has nothing at all may as well have been deleted, and stays so.
                if not 0 < conflict.found < expected_version:
                    raise
                known = self._cache.get(self.tenant, run.run_id)
                if known is None or known.after or known.run.version != expected_version:
                    raise
                await push(view, run.run_id, 0, (*known.entries, *entries), fence=fence)
                logger.warning("entries of run %r were lost, and stored again", run.run_id)

    async def _ahead(self, run: Run, entries: Sequence[Entry], expected_version: int) -> bool:
        """Whether anything waits for the log ahead of an append, after an attempt at it."""
        log, outbox = self._layout.log, self._outbox
        try:
            waiting, refused = await outbox.look(log.name, self.tenant, run.run_id)
            if waiting and not log.paused:
                await self._delivery.deliver(log, self.tenant, run.run_id)
                waiting, refused = await outbox.look(log.name, self.tenant, run.run_id)
        except StorageError:
            # Entries that wait make the log refuse these: they cannot get ahead of them.
            return False
        if refused:
            await self._check_descent(run, entries, expected_version)
        return waiting

    async def _check_descent(
        self, run: Run, entries: Sequence[Entry], expected_version: int
    ) -> None:
        # The writer of what was refused may have as many entries as the log, but other ones.
        try:
            with self._layout.log.attempt():
                held = await self._log.load(run.run_id)
        except ThoughtNotFound:
            return
        if held.version != expected_version:
            return  # then the log itself compares
        try:
            for entry in entries:
                held = held.apply(entry)
        except (KeyError, ValueError):
            held = None
        if held != run:
            raise VersionConflict(run.run_id, expected=expected_version, found=expected_version)

    async def _mark(self, run_id: str) -> None:
        try:
            await self._outbox.mark(self._layout.names, self.tenant, run_id)
        except StorageError as failure:
            # The log decides about an append, never what comes after it.
            logger.warning("the index or a copy gets run %r late: %s", run_id, failure)
            self._owed.add((self.tenant, run_id))

    async def _help(self) -> None:
        for replica in self._layout.replicas:
            waiting = self._outbox.known.waiting.get(replica.name, 0)
            if waiting > _LONG_QUEUE and not replica.paused:
                try:
                    deadline = time.monotonic() + _HELPING_SECONDS
                    await self._delivery.work_off(replica, deadline=deadline)
                except StorageError as failure:
                    logger.warning("the queue cannot be worked off: %s", failure)

    async def _waiting(self, run_id: str) -> list[Waiting]:
        """The rows that still wait for the log about a run, after an attempt to deliver them."""
        log = self._layout.log
        try:
            rows = await self._outbox.rows(log.name, self.tenant, run_id)
            if rows and not log.paused:
                await self._delivery.deliver(log, self.tenant, run_id)
                rows = await self._outbox.rows(log.name, self.tenant, run_id)
        except StorageError:
            return []  # the outbox's failure is not the reader's: the log is asked
        return rows

    async def _archive(self, run_id: str) -> ThoughtStore | None:
        """A copy of a run that the log does not have any more, and that was not deleted."""
        for part in self._copies:
            try:
                rows = await self._outbox.rows(part.name, self.tenant, run_id)
                if all(row.kind != "delete" for row in rows):
                    with part.attempt():
                        await part.inner.scoped(self.tenant).size(run_id)
                    return part.inner.scoped(self.tenant)
            except (ThoughtNotFound, StorageError):
                continue
        return None

    async def _without_log(
        self, run_id: str, rows: list[Waiting], failure: StorageError | None
    ) -> Run:
        if rows and rows[-1].kind == "delete":
            raise ThoughtNotFound(run_id)
        known = [state] if (state := self._cache.get(self.tenant, run_id)) else []
        for part in self._copies:
            try:
                with part.attempt():
                    run = await part.inner.scoped(self.tenant).load(run_id)
                known.append(State(run, run.version, ()))
            except (ThoughtNotFound, StorageError):
                continue
        found = max(known, key=lambda each: each.run.version, default=None)
        found = after_queue(found, rows) if rows else found
        if found is None:
            raise failure or StorageError(
                f"only the end of run {run_id!r} is known here", "try again in a moment"
            )
        return found.run

    async def _at(self, run_id: str, run: Run | None, entry: Entry, number: int) -> Run:
        """The run as of an entry that waits for the log."""
        if number == (run.version + 1 if run else 1):
            return apply_entry(run_id, run, entry)
        loaded = await self.load(run_id)
        if loaded.version < number:
            raise ThoughtNotFound(run_id)
        return loaded

    async def _bring_up_to_date(self, part: Part[ThoughtStore] | Replica, deadline: float) -> None:
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
        lines = [run.summary() for run in self._cache.runs(self.tenant)]
        for owner, run_id in await self._outbox.runs(self._layout.log.name, limit=1000):
            if owner == self.tenant:
                try:
                    lines.append((await self.load(run_id)).summary())
                except (StorageError, ThoughtNotFound):
                    continue  # only its end is known here
        return lines

    def _page(self, lines: Sequence[RunSummary], *, limit: int, cursor: str | None) -> RunPage:
        """A page of lines that are at hand; of several lines of a run the last one counts."""
        start = decode_cursor(self._cursor_key, self.tenant, cursor)
        latest = {line.run_id: line for line in lines}.values()
        behind = sorted(
            (line for line in latest if position(line) < start), key=position, reverse=True
        )
        page = tuple(behind[:limit])
        following = position(page[-1]) if page and len(behind) > limit else None
        return RunPage(
            runs=page,
            next_cursor=encode_cursor(self._cursor_key, self.tenant, following)
            if following
            else None,
        )


class CachedCheckpointStorage(CachedStorage):
    """Memory in front of one store, for `Chain(checkpoint_storage=...)`.

    A run whose process dies goes on after its last entry that the store holds.

    Args:
        storage: Where runs are kept.
        queue: A file in which appends wait while the store is down. Without one its failures are
            raised, and a chain keeps what it could not store in memory.
        tenant: Whose runs are seen.
    """

    def __init__(
        self, storage: ThoughtStore, *, queue: str | Path | None = None, tenant: str = "default"
    ) -> None:
        super().__init__(MemoryStorage(), storage, queue=queue, tenant=tenant)


def _lay_out(stores: Sequence[ThoughtStore | SearchIndex], *, retry_after: float) -> Layout:
    if len({id(store) for store in stores}) < len(stores):
        raise ConfigurationError("the same store stands there twice", "name each store once")
    seen: Counter[str] = Counter()
    logs: list[tuple[str, ThoughtStore]] = []
    indexes: list[tuple[str, SearchIndex]] = []
    for store in stores:
        # What waits in the outbox finds its part by this name, in a later process too.
        seen[store.place] += 1
        number = seen[store.place]
        name = store.place if number == 1 else f"{store.place} ({number})"
        if isinstance(store, SearchIndex):
            indexes.append((name, store))
        else:
            logs.append((name, store))
    lasting = (n for n, (_, store) in enumerate(logs) if not isinstance(store, MemoryStorage))
    first = next(lasting, len(logs) - 1)
    if first < 0:
        raise ConfigurationError(
            "a search index is no log: there is no store that the runs could be in",
            "name one before it, such as redis://... or sqlite:",
        )
    replicas: list[Replica] = [
        CopyReplica(name, store, retry_after) for name, store in logs[first + 1 :]
    ]
    replicas += [IndexReplica(name, index, retry_after) for name, index in indexes]
    return Layout(Part(*logs[first], retry_after), tuple(replicas))


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


def _lacking(search: str, lacks: Sequence[str]) -> str:
    if not lacks:
        return search
    if search.endswith(")"):
        return f"{search[:-1]}; {'; '.join(lacks)})"
    return f"{search} ({'; '.join(lacks)})"
