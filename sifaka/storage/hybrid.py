"""Four memories as one store: working, short-term, long-term and episodic."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self, TypeVar

from sifaka.errors import SifakaError, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import page_of
from sifaka.storage.embedding import merge_hits
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage, ThoughtStore
from sifaka.storage.retention import (
    Leaving,
    Outcome,
    Policy,
    RetentionFailure,
    carry_out,
    plan,
    unfinished,
)
from sifaka.storage.store import erase_each
from sifaka.storage.transfer import copy_run

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HybridMemory:
    """A `ThoughtStore` made of four, each of which holds what it is good at.

    A run begins in the short-term memory. `move` takes it, once it is finished and old enough, to
    the episodic record, with a copy in the long-term memory for searches. At any time one store has
    the say about a run, so it never forks: the short-term memory if it holds the run, else the
    episodic record; a run that is taken up again after it was moved is carried on there, and does
    not come back.

    Args:
        working: Copies of what this process works on, read when the store that has the say fails.
        short_term: Young runs; a shared store, such as Redis, whose runs may expire.
        long_term: Moved runs, to be searched.
        episodic: Moved runs, for good; other processes use the same.
        tenant: The tenant whose runs the four show.
    """

    working: ThoughtStore
    short_term: ThoughtStore
    long_term: ThoughtStore
    episodic: ThoughtStore
    tenant: str = "default"
    _behind: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]], repr=False)
    """Tenant and id of runs whose copy in the long-term memory lacks entries."""

    @property
    def place(self) -> str:
        """Those of its parts."""
        return ", ".join(store.place for store in self._parts)

    @property
    def degraded(self) -> tuple[str, ...]:
        """The failures of its parts, and the number of runs whose search copy is behind."""
        behind = len(self._behind)
        runs = "1 run lacks" if behind == 1 else f"{behind} runs lack"
        own = (f"{runs} entries in the long-term memory",) if behind else ()
        return tuple(dict.fromkeys([*own, *(line for p in self._parts for line in p.degraded)]))

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable where the run is; see `ThoughtStore.append`."""
        # What was moved is in the record: a new run needs no long-term memory.
        places = None if expected_version else (self.short_term, self.episodic)
        home = await self._found(run.run_id, places) or self.short_term
        try:
            await home.append(run, entries, expected_version=expected_version, fence=fence)
        except VersionConflict as conflict:
            moved = expected_version and not conflict.found and await self._found(run.run_id)
            if not moved or moved is home:
                raise
            home = moved
            await home.append(run, entries, expected_version=expected_version, fence=fence)
        if home is self.short_term:
            await self._keep_at_hand(run, entries, expected_version)
        elif home is self.episodic:
            self._behind.add((self.tenant, run.run_id))
            await self._make_findable(self.tenant, run.run_id)

    async def claim(self, run_id: str) -> int:
        """Take a run over where it is; see `ThoughtStore.claim`."""
        return await self._ask(run_id, lambda home: home.claim(run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry; as far as it is known elsewhere, when its store fails."""
        try:
            return await self._ask(run_id, lambda home: home.load(run_id))
        except StorageError as failure:
            for memory in (self.working, self.episodic, self.long_term):
                try:
                    run = await memory.load(run_id)
                except (StorageError, ThoughtNotFound):
                    continue
                logger.warning("run %r is read from a copy: %s", run_id, failure.message)
                return run
            raise

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, wherever it is moved meanwhile; see `ThoughtStore.follow`."""
        version = after
        while True:
            home = await self._home(run_id)
            try:
                async with aclosing(home.follow(run_id, after=version)) as steps:
                    async for entry, run in steps:
                        version = run.version
                        yield entry, run
                return
            except ThoughtNotFound:
                if await self._home(run_id) is home:
                    raise

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        lines: dict[str, RunSummary] = {}
        for memory in (self.episodic, self.short_term):
            page = await memory.recent(limit=limit + 1, cursor=cursor)
            lines |= {line.run_id: line for line in page.runs}
        return page_of(lines.values(), limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions in the short-term and the long-term memory, merged by their ranks."""
        found: list[Hits] = []
        lacking: list[str] = []
        for memory in (self.short_term, self.long_term):
            try:
                found.append(await memory.search(query, limit=limit, only=only))
            except StorageError as failure:
                lacking.append(failure.message)
                if len(lacking) == 2:
                    raise
        how = " + ".join(dict.fromkeys(hits.search for hits in found))
        note = f" (incomplete: {lacking[0]})" if lacking else ""
        return Hits(hits=merge_hits([hits.hits for hits in found])[:limit], search=how + note)

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries where the run is; copies are not counted."""
        return await self._ask(run_id, lambda home: home.size(run_id))

    async def delete(self, run_id: str) -> None:
        """Forget a run in all four."""
        self._behind.discard((self.tenant, run_id))
        # The record before the index, so that who copies between them sees that it is gone.
        for memory in (self.working, self.short_term, self.episodic, self.long_term):
            await memory.delete(run_id)

    async def move(self, older_than: timedelta, now: datetime | None = None) -> Outcome:
        """Take finished runs out of the short-term memory, after they were copied and compared.

        Args:
            older_than: Since their last entry.
            now: The moment that ages are counted from.
        """
        aged = await plan(self.short_term, Policy(max_age=older_than), now)
        ready: list[Leaving] = []
        failed: list[RetentionFailure] = []
        for leaving in aged.leaving:
            if unfinished(leaving.run):
                continue
            try:
                await copy_run(self.short_term, self.long_term, leaving.run.run_id)
            except SifakaError as error:
                failed.append(RetentionFailure(leaving=leaving, error=str(error)))
            else:
                ready.append(leaving)
        moving = aged.model_copy(update={"leaving": tuple(ready)})
        moved = await carry_out(self.short_term, moving, self.episodic)
        return Outcome(gone=moved.gone, failed=(*failed, *moved.failed))

    async def forget(self, policy: Policy, now: datetime | None = None) -> Outcome:
        """Delete in all four what the policy does not keep."""
        outcome = await carry_out(self, await plan(self, policy, now))
        for part in self._parts:
            await erase_each(part.scoped(self.tenant), ())
        return outcome

    async def catch_up(self) -> int:
        """Copy what the long-term memory lacks, and let the parts do the same."""
        for tenant, run_id in tuple(self._behind):
            await self._make_findable(tenant, run_id)
        left = [await memory.catch_up() for memory in self._parts]
        return sum(left) + len(self._behind)

    async def health(self) -> tuple[Health, ...]:
        """Each part's."""
        return tuple([line for memory in self._parts for line in await memory.health()])

    def scoped(self, tenant: str) -> Self:
        """The same memories as another tenant has them."""
        return replace(
            self,
            working=self.working.scoped(tenant),
            short_term=self.short_term.scoped(tenant),
            long_term=self.long_term.scoped(tenant),
            episodic=self.episodic.scoped(tenant),
            tenant=tenant,
        )

    async def aclose(self) -> None:
        """Close the parts."""
        for memory in self._parts:
            await memory.aclose()

    @property
    def _parts(self) -> tuple[ThoughtStore, ...]:
        return self.working, self.short_term, self.long_term, self.episodic

    async def _found(
        self, run_id: str, places: Sequence[ThoughtStore] | None = None
    ) -> ThoughtStore | None:
        """The store that has the say about a run.

        The long-term memory has it only if the run was removed from the record by hand.
        """
        for memory in places or (self.short_term, self.episodic, self.long_term):
            try:
                await memory.size(run_id)
            except ThoughtNotFound:
                continue
            return memory
        return None

    async def _home(self, run_id: str) -> ThoughtStore:
        home = await self._found(run_id)
        if home is None:
            raise ThoughtNotFound(run_id)
        return home

    async def _ask(self, run_id: str, ask: Callable[[ThoughtStore], Awaitable[T]]) -> T:
        """The answer of the store that the run is in, even if the run is moved just then."""
        while True:
            home = await self._home(run_id)
            try:
                return await ask(home)
            except ThoughtNotFound:
                if await self._home(run_id) is home:
                    raise

    async def _keep_at_hand(
        self, run: Run, entries: Sequence[Entry], expected_version: int
    ) -> None:
        try:
            try:
                await self.working.append(run, entries, expected_version=expected_version)
            except VersionConflict:
                # Others have written to the run, so this copy lacks entries.
                await self.working.delete(run.run_id)
            if run.finished:
                await self.working.delete(run.run_id)
        except StorageError as failure:
            # The run is stored: a copy less is no failure of the append.
            logger.warning("run %r has no copy at hand: %s", run.run_id, failure.message)

    async def _make_findable(self, tenant: str, run_id: str) -> None:
        record, index = self.episodic.scoped(tenant), self.long_term.scoped(tenant)
        try:
            try:
                await copy_run(record, index, run_id)
                await record.size(run_id)
            except ThoughtNotFound:
                if (tenant, run_id) not in self._behind:
                    await index.delete(run_id)  # it was deleted meanwhile, and stays so
        except StorageError as failure:
            logger.warning("run %r cannot be searched as it is now: %s", run_id, failure)
            return
        self._behind.discard((tenant, run_id))
