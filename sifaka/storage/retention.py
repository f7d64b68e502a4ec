"""Forgetting and moving runs by policy, and young runs with an archive of old ones as one store.

First there is a plan that changes nothing, then what it says is carried out.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Self, TypeVar

from anyio import CancelScope
from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.errors import (
    ConfigurationError,
    SifakaError,
    StorageError,
    ThoughtNotFound,
    VersionConflict,
)
from sifaka.record.entries import FINAL, Entry, Started
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import page_of, to_microseconds
from sifaka.storage.embedding import merge_hits
from sifaka.storage.log import erase_each, every_run, load_if_there
from sifaka.storage.protocol import ANY, Eraser, Filters, Health, Hits, RunPage, ThoughtStore

logger = logging.getLogger(__name__)
T = TypeVar("T")

_MOVED_AT_ONCE = 100
"""Runs that are moved in one step, which should take a moment; the oldest first."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Policy(Frozen):
    """The runs of a tenant to keep; a field that is None sets no limit."""

    max_age: timedelta | None = Field(default=None, ge=timedelta(0))
    """Since the last entry."""
    max_runs: int | None = Field(default=None, ge=0)
    """The newest so many."""
    keep_unfinished: bool = True
    """True keeps runs that are at work or wait for a revision, whatever their number.

    They count, though, and by their age they are forgotten like all others.
    """


class Leaving(Frozen):
    """A run that a policy does not keep."""

    run: RunSummary
    reason: str


class RetentionPlan(Frozen):
    """The effect of a policy on a store at one moment."""

    leaving: tuple[Leaving, ...]
    """Newest first."""
    kept_runs: int


class RetentionFailure(Frozen):
    """A run that should have left and is still there."""

    leaving: Leaving
    error: str
    """The error and its suggestion, in one line."""


class Outcome(Frozen):
    """The outcome of a plan."""

    gone: tuple[Leaving, ...]
    failed: tuple[RetentionFailure, ...]


async def plan(store: ThoughtStore, policy: Policy, now: datetime | None = None) -> RetentionPlan:
    """The runs that the store's tenant would lose; nothing is changed.

    Args:
        store: The store, as the tenant sees it whose policy it is.
        policy: The runs that stay.
        now: The moment that ages are counted from.
    """
    moment = now or datetime.now(UTC)
    lines = [line async for line in every_run(store)]
    leaving = tuple(
        Leaving(run=line, reason=reason)
        for runs, line in enumerate(lines, 1)
        if (reason := _find_reason(policy, line, moment, runs))
    )
    return RetentionPlan(leaving=leaving, kept_runs=len(lines) - len(leaving))


async def carry_out(
    store: ThoughtStore, planned: RetentionPlan, archive: ThoughtStore | None = None
) -> Outcome:
    """Delete the runs of a plan; with an archive, each after it was copied there and compared.

    A run that has changed since it was planned stays. Doing it again goes on with what was left.
    A run that is moved is claimed first: its writer is refused, here and in the archive. What is
    appended without a claim, such as a cancellation, in the moment before it is deleted goes too.
    """
    lines = [each.run for each in planned.leaving]
    errors: dict[str, str] = {}
    try:
        if archive is not None and lines:
            await _check_separate(store, archive)
    except SifakaError as error:
        errors, lines = {line.run_id: str(error) for line in lines}, []
    at_once = 500 if archive is None and isinstance(store, Eraser) else 1
    for begin in range(0, len(lines), at_once):
        some = lines[begin : begin + at_once]
        try:
            for run_id in await erase_each(store, some, archive):
                changed = StorageError(f"run {run_id!r} has changed meanwhile", "make a new plan")
                errors[run_id] = str(changed)
        except SifakaError as error:
            errors |= {line.run_id: str(error) for line in some}
    gone = tuple(each for each in planned.leaving if each.run.run_id not in errors)
    if gone:
        try:
            await erase_each(store, ())
        except StorageError as error:
            logger.warning("the deleted runs may have left traces in the store: %s", error)
    failed = [
        RetentionFailure(leaving=each, error=errors[each.run.run_id])
        for each in planned.leaving
        if each.run.run_id in errors
    ]
    return Outcome(gone=gone, failed=tuple(failed))


def unfinished(line: RunSummary) -> bool:
    """True when the run may still be worked on."""
    return line.status not in FINAL


def _find_reason(policy: Policy, line: RunSummary, now: datetime, runs: int) -> str | None:
    age = timedelta(microseconds=to_microseconds(now) - to_microseconds(line.updated_at))
    if policy.max_age is not None and age > policy.max_age:
        return "too old"
    counts = not (policy.keep_unfinished and unfinished(line))
    if counts and policy.max_runs is not None and runs > policy.max_runs:
        return "beyond the number"
    return None


async def _check_separate(store: ThoughtStore, archive: ThoughtStore) -> None:
    """Refuse an archive that is the store itself or one of its parts: deleting would empty it."""
    started = Started(prompt="Look whether this archive is a store of its own.")
    trial = Run.start(started)
    await archive.append(trial, [started], expected_version=0)
    try:
        await store.load(trial.run_id)
    except ThoughtNotFound:
        return
    finally:
        with CancelScope(shield=True):
            await archive.delete(trial.run_id)
    raise ConfigurationError(
        "the archive is the store that the runs are in, or a part of it", "name another one"
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HybridMemory(ThoughtStore):
    """A `ThoughtStore` made of two: where young runs are, and the record of the old ones.

    A run begins in the short-term memory. Once it is finished, `catch_up` takes it to the episodic
    record, if the policy of the short-term memory says so, and forgets there what the other one
    says. At any time one store decides about a run, so it never forks: the short-term memory if
    it holds the run, else the episodic record; a run that is taken up again after it was moved is
    carried on there, and does not come back.

    Args:
        short_term: Young runs; a shared store, such as Redis, whose runs may expire.
        episodic: Moved runs; other processes use the same.
        short_term_keeps: The finished runs that stay in the short-term memory; by default all.
        episodic_keeps: The runs that stay in the record; by default all.
        clock: The moment that ages are counted from.
    """

    short_term: ThoughtStore
    episodic: ThoughtStore
    short_term_keeps: Policy = field(default_factory=Policy)
    episodic_keeps: Policy = field(default_factory=Policy)
    clock: Callable[[], datetime] = field(default=partial(datetime.now, UTC))
    _caught_up_at: dict[str, datetime] = field(default_factory=dict[str, datetime], repr=False)
    """When `catch_up` has last gone through the runs of a tenant, by those that were seen; the one
    that it was opened for is empty."""

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
        return await self._ask_memory(lambda home: home.claim(run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry; as the record has it, when the other store fails."""
        try:
            return await self._ask_memory(lambda home: home.load(run_id))
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
        lines = {
            line.run_id: line
            for memory in reversed(self._parts)
            for line in (await memory.recent(limit=limit + 1, cursor=cursor)).runs
        }
        return page_of(lines.values(), limit=limit, cursor=cursor)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions in both, merged by their ranks."""
        results: list[Hits] = []
        lacking: list[str] = []
        for memory in self._parts:
            try:
                results.append(await memory.search(query, limit=limit, only=only))
            except StorageError as failure:
                lacking.append(failure.message)
                if len(lacking) == 2:
                    raise
        how = " + ".join(dict.fromkeys(hits.search for hits in results))
        note = f" (incomplete: {lacking[0]})" if lacking else ""
        return Hits(hits=merge_hits([hits.hits for hits in results])[:limit], search=how + note)

    async def delete(self, run_id: str) -> None:
        """Forget a run in both."""
        for memory in self._parts:
            await memory.delete(run_id)

    async def move(self) -> Outcome:
        """Take out of the short-term memory what it does not keep, copied and compared before.

        A call moves the oldest 100 of them.
        """
        aged = await plan(self.short_term, self.short_term_keeps, self.clock())
        finished = tuple(each for each in aged.leaving if not unfinished(each.run))
        moving = aged.model_copy(update={"leaving": finished[-_MOVED_AT_ONCE:]})
        return await carry_out(self.short_term, moving, self.episodic)

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete runs in both; see `Eraser`."""
        stayed = [await erase_each(memory, lines) for memory in self._parts]
        return frozenset[str]().union(*stayed)

    async def catch_up(self) -> int:
        """Let both do what they have put off; every minute, move and forget by the policies."""
        for tenant, last in {"": _LONG_AGO, **self._caught_up_at}.items():
            if self.clock() - last >= timedelta(minutes=1):
                view = self.scoped(tenant) if tenant else self
                moved = await view.move()
                if len(moved.gone) < _MOVED_AT_ONCE:
                    self._caught_up_at[tenant] = self.clock()
                old = await plan(view.episodic, self.episodic_keeps, self.clock())
                for failure in (*moved.failed, *(await carry_out(view.episodic, old)).failed):
                    logger.warning("run %r stays: %s", failure.leaving.run.run_id, failure.error)
        return sum([await memory.catch_up() for memory in self._parts])

    async def health(self) -> tuple[Health, ...]:
        """That of both."""
        return tuple([line for memory in self._parts for line in await memory.health()])

    def scoped(self, tenant: str) -> Self:
        """The same memories as another tenant has them."""
        self._caught_up_at.setdefault(tenant, _LONG_AGO)
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

    async def _ask_memory(self, ask: Callable[[ThoughtStore], Awaitable[T]]) -> T:
        """The answer of the store that the run is in; while it is moved it is in both."""
        try:
            return await ask(self.short_term)
        except ThoughtNotFound:
            return await ask(self.episodic)
