"""Reads of a composed store: from its log, and from its copies and its cache while that is down."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import anyio

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.bm25 import search_runs
from sifaka.storage.cursor import page_of
from sifaka.storage.delivery import Delivery, after_queue
from sifaka.storage.entry_json import apply_entry
from sifaka.storage.log import LOOK_AGAIN
from sifaka.storage.memory import RunCache, State
from sifaka.storage.outbox import Outbox
from sifaka.storage.outbox_tables import Waiting
from sifaka.storage.parts import Layout, Part, Replica
from sifaka.storage.protocol import ANY, Filters, Hits, RunPage, ThoughtStore
from sifaka.storage.store import TenantView

_BEFORE_SEARCH_SECONDS = 1.0


class StoreReader(TenantView):
    """Reads a tenant's runs from the log, with the appends that wait for it."""

    _layout: Layout
    _cache: RunCache
    _outbox: Outbox
    _delivery: Delivery

    async def load(self, run_id: str) -> Run:
        """The run as the log has it; while that is down, as this process knows it."""
        rows, log = await self._delivery.waiting(self.tenant, run_id), self._layout.log
        failure: StorageError | None = None
        if not rows:
            try:
                with log.attempt():
                    return await self._layout.log_of(self.tenant).load(run_id)
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
            rows = await self._delivery.waiting(self.tenant, run_id)
            try:
                if not rows:
                    # No attempt: whether it works now does not follow from what lasts for hours.
                    log.check()
                    async with aclosing(
                        self._layout.log_of(self.tenant).follow(run_id, after=known)
                    ) as steps:
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
        """Runs, as the log lists them; while it is down, as a copy or the cache does."""
        failure: StorageError | None = None
        for part in (self._layout.log, *self._layout.copies):
            await self._bring_up_to_date(part, time.monotonic() + _BEFORE_SEARCH_SECONDS)
            try:
                with part.attempt():
                    return await part.inner.scoped(self.tenant).recent(limit=limit, cursor=cursor)
            except StorageError as error:
                failure = failure or error
        assert failure is not None, "a part that works answers"
        if not failure.retryable:
            raise failure
        latest = {line.run_id: line for line in await self._known_lines()}.values()
        return page_of(latest, limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions, by the last index, copy or log that works.

        `Hits.search` names those that do not work, and how many runs wait for the searched one.
        """
        deadline = time.monotonic() + _BEFORE_SEARCH_SECONDS
        down: list[str] = []
        failure: StorageError | None = None
        for part in (
            *reversed(self._layout.indexes),
            *reversed(self._layout.copies),
            self._layout.log,
        ):
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
        hits = search_runs(self._cache.runs(self.tenant), query, limit=limit, only=only)
        return hits.model_copy(update={"search": _lacking(hits.search, down)})

    async def size(self, run_id: str) -> int:
        """The bytes of a run in the log; while it is down, in a copy."""
        await self._delivery.waiting(self.tenant, run_id)
        failure: StorageError | None = None
        for part in (self._layout.log, *self._layout.copies):
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

    async def _archive(self, run_id: str) -> ThoughtStore | None:
        """A copy of a run that the log does not have any more, and that was not deleted."""
        for part in self._layout.copies:
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
        for part in self._layout.copies:
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
        """A line for each run that is known here, or several, of which the last counts."""
        lines = [run.summary() for run in self._cache.runs(self.tenant)]
        for owner, run_id in await self._outbox.runs(self._layout.log.name, limit=1000):
            if owner == self.tenant:
                try:
                    lines.append((await self.load(run_id)).summary())
                except (StorageError, ThoughtNotFound):
                    continue  # only its end is known here
        return lines


def _lacking(search: str, lacks: Sequence[str]) -> str:
    if not lacks:
        return search
    if search.endswith(")"):
        return f"{search[:-1]}; {'; '.join(lacks)})"
    return f"{search} ({'; '.join(lacks)})"
