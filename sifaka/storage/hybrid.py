"""Young runs and an archive of old ones as one store."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self, TypeVar

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import page_of
from sifaka.storage.embedding import merge_hits
from sifaka.storage.log import load_if_there
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage, ThoughtStore
from sifaka.storage.retention import Outcome, Policy, carry_out, plan, unfinished
from sifaka.storage.store import erase_each

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HybridMemory:
    """A `ThoughtStore` made of two: where young runs are, and the record of the old ones.

    A run begins in the short-term memory. `move` takes it, once it is finished and old enough, to
    the episodic record. At any time one store has the say about a run, so it never forks: the
    short-term memory if it holds the run, else the episodic record; a run that is taken up again
    after it was moved is carried on there, and does not come back.

    Args:
        short_term: Young runs; a shared store, such as Redis, whose runs may expire.
        episodic: Moved runs, for good; other processes use the same.
    """

    short_term: ThoughtStore
    episodic: ThoughtStore

    @property
    def place(self) -> str:
        """Those of its parts."""
        return ", ".join(store.place for store in self._parts)

    @property
    def degraded(self) -> tuple[str, ...]:
        """The failures of its parts."""
        return tuple(dict.fromkeys(line for part in self._parts for line in part.degraded))

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable where the run is; see `ThoughtStore.append`."""
        home = self.short_term
        if not expected_version and await load_if_there(self.episodic, run.run_id):
            home = self.episodic  # it was created before, and moved
        try:
            await home.append(run, entries, expected_version=expected_version, fence=fence)
        except VersionConflict as conflict:
            if conflict.found or home is self.episodic:
                raise
            await self.episodic.append(run, entries, expected_version=expected_version, fence=fence)

    async def claim(self, run_id: str) -> int:
        """Take a run over where it is; see `ThoughtStore.claim`."""
        return await self._ask(lambda home: home.claim(run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry; as the record has it, when the other store fails."""
        try:
            return await self._ask(lambda home: home.load(run_id))
        except StorageError as failure:
            run = await load_if_there(self.episodic, run_id)
            if run is None:
                raise
            logger.warning("run %r is read from the record: %s", run_id, failure.message)
            return run

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, wherever it is moved meanwhile; see `ThoughtStore.follow`."""
        version = after
        for memory in self._parts:
            try:
                async with aclosing(memory.follow(run_id, after=version)) as steps:
                    async for entry, run in steps:
                        version = run.version
                        yield entry, run
                return
            except ThoughtNotFound:
                if memory is self.episodic:
                    raise

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        lines: dict[str, RunSummary] = {}
        for memory in reversed(self._parts):
            page = await memory.recent(limit=limit + 1, cursor=cursor)
            lines |= {line.run_id: line for line in page.runs}
        return page_of(lines.values(), limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions in both, merged by their ranks."""
        found: list[Hits] = []
        lacking: list[str] = []
        for memory in self._parts:
            try:
                found.append(await memory.search(query, limit=limit, only=only))
            except StorageError as failure:
                lacking.append(failure.message)
                if len(lacking) == 2:
                    raise
        how = " + ".join(dict.fromkeys(hits.search for hits in found))
        note = f" (incomplete: {lacking[0]})" if lacking else ""
        return Hits(hits=merge_hits([hits.hits for hits in found])[:limit], search=how + note)

    async def delete(self, run_id: str) -> None:
        """Forget a run in both."""
        for memory in self._parts:
            await memory.delete(run_id)

    async def move(self, older_than: timedelta, now: datetime | None = None) -> Outcome:
        """Take finished runs out of the short-term memory, after they were copied and compared.

        Args:
            older_than: Since their last entry.
            now: The moment that ages are counted from.
        """
        aged = await plan(self.short_term, Policy(max_age=older_than), now)
        finished = tuple(each for each in aged.leaving if not unfinished(each.run))
        moving = aged.model_copy(update={"leaving": finished})
        return await carry_out(self.short_term, moving, self.episodic)

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete runs in both; see `Eraser`."""
        stayed = [await erase_each(memory, lines) for memory in self._parts]
        return frozenset[str]().union(*stayed)

    async def catch_up(self) -> int:
        """Let both do what they have put off."""
        return sum([await memory.catch_up() for memory in self._parts])

    async def health(self) -> tuple[Health, ...]:
        """That of both."""
        return tuple([line for memory in self._parts for line in await memory.health()])

    def scoped(self, tenant: str) -> Self:
        """The same memories as another tenant has them."""
        return replace(
            self,
            short_term=self.short_term.scoped(tenant),
            episodic=self.episodic.scoped(tenant),
        )

    async def aclose(self) -> None:
        """Close both."""
        for memory in self._parts:
            await memory.aclose()

    @property
    def _parts(self) -> tuple[ThoughtStore, ...]:
        return self.short_term, self.episodic

    async def _ask(self, ask: Callable[[ThoughtStore], Awaitable[T]]) -> T:
        """The answer of the store that the run is in; while it is moved it is in both."""
        try:
            return await ask(self.short_term)
        except ThoughtNotFound:
            return await ask(self.episodic)
