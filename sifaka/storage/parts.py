"""The parts of a composed store: its log, and the indexes and copies that replicate it."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from sifaka.errors import AppendRefused, ConfigurationError, StorageError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.log import load_if_there
from sifaka.storage.memory import MemoryStorage, State
from sifaka.storage.protocol import Filters, Hits, SearchIndex, ThoughtStore

T = TypeVar("T")
Inner = TypeVar("Inner", bound=ThoughtStore | SearchIndex)
_KNOWN_RUNS = 128
"""Runs of which it is remembered what a replica holds, so that it need not be read to go on."""
_LONGER = 8
"""The pause after a failure, in times of what it took to fail: a part that hangs slows a run by a
ninth at most."""


class Part(Generic[Inner]):
    """A log, an index or a copy that is left alone for a moment after it could not be reached.

    Args:
        name: Its name in the outbox and in messages.
        inner: The log, the index or the copy.
        retry_after: Seconds at least without an attempt after a failure that another attempt may
            cure; 0 asks each time.
    """

    def __init__(self, name: str, inner: Inner, retry_after: float) -> None:
        self.name = name
        self.inner = inner
        self.retry_after = retry_after
        self.failure: StorageError | None = None
        """The error of the last attempt; None when it succeeded."""
        self.delivering = False
        """True while a task of this process delivers to it."""
        self._ask_again = 0.0

    async def search(self, tenant: str, query: str, limit: int, only: Filters) -> Hits:
        """Past versions of a tenant that match."""
        with self.attempt():
            return await self.inner.scoped(tenant).search(query, limit=limit, only=only)

    @property
    def paused(self) -> StorageError | None:
        """The failure for which no attempt is made now; None when one may be made."""
        return self.failure if time.monotonic() < self._ask_again else None

    def try_again(self) -> None:
        """The next attempt is not put off."""
        self._ask_again = 0.0

    def check(self) -> None:
        """Ask nothing while it is not worth an attempt."""
        if paused := self.paused:
            # A new one each time: raising the same one would gather the tracebacks of all callers.
            raise StorageError(paused.message, paused.suggestion, retryable=True)

    @contextmanager
    def attempt(self) -> Generator[None]:
        """Ask the part for something inside; how that went is remembered.

        Raises:
            StorageError: It has just failed, and nothing inside was done.
        """
        self.check()
        begun = time.monotonic()
        if self.failure is not None and self.failure.retryable:
            # One task finds out for all whether it works again; no other waits for that.
            self._ask_again = begun + self.retry_after
        try:
            yield
        except (AppendRefused, ThoughtNotFound):
            self._works()
            raise
        except StorageError as failure:
            self.failure = failure
            if failure.retryable and self.retry_after:
                seconds = time.monotonic() - begun
                pause = max(self.retry_after, _LONGER * seconds)
                self._ask_again = time.monotonic() + pause
            raise
        except BaseException:
            self.try_again()  # it was not found out
            raise
        self._works()

    def _works(self) -> None:
        self.failure = None
        self.try_again()


class IndexReplica(Part[SearchIndex]):
    """An index, which is given each run as it is."""

    def __init__(self, name: str, inner: SearchIndex, retry_after: float) -> None:
        super().__init__(name, inner, retry_after)
        self._put: OrderedDict[tuple[str, str], tuple[int, bool]] = OrderedDict()

    async def bring(self, tenant: str, state: State, *, renew: bool = False) -> bool:
        """Make the versions of a run findable as they are in this state; True."""
        run, key = state.run, (tenant, state.run.run_id)
        count, passed = self._put.pop(key, (0, run.passed))
        # Whether the run passes is said with each of its versions.
        first = 0 if renew or passed != run.passed or count > len(run.thoughts) else count
        with self.attempt():
            await self.inner.scoped(tenant).put(run, first=first)
        _remember(self._put, key, (len(run.thoughts), run.passed))
        return True

    async def forget(self, tenant: str, run_id: str) -> None:
        """Drop a run."""
        self._put.pop((tenant, run_id), None)
        with self.attempt():
            await self.inner.scoped(tenant).drop(run_id)


class CopyReplica(Part[ThoughtStore]):
    """A copy of the log: its archive, which has the entries a moment later."""

    def __init__(self, name: str, inner: ThoughtStore, retry_after: float) -> None:
        super().__init__(name, inner, retry_after)
        self._held: OrderedDict[tuple[str, str], Run] = OrderedDict()

    async def bring(self, tenant: str, state: State, *, renew: bool = False) -> bool:
        """Append what the copy lacks of a run.

        Args:
            tenant: The run's tenant.
            state: The run as it has to be.
            renew: Replaces other entries that the copy holds.

        Returns:
            True when the copy holds this state now; otherwise it needs one with all entries.
        """
        run, view = state.run, self.inner.scoped(tenant)
        key = (tenant, run.run_id)
        held = self._held.pop(key, None)
        with self.attempt():
            if held is None or renew:
                held = await load_if_there(view, run.run_id)
            if held != run:
                if renew and held is not None and not _begins(state, held):
                    await view.delete(run.run_id)
                    held = None
                version = held.version if held else 0
                lacking = state.since(version)
                if version > run.version or lacking is None or not _leads_to(held, lacking, run):
                    return False
                try:
                    await view.append(run, lacking, expected_version=version)
                except AppendRefused:
                    return False
        _remember(self._held, key, run)
        return True

    async def forget(self, tenant: str, run_id: str) -> None:
        """Delete a run."""
        self._held.pop((tenant, run_id), None)
        with self.attempt():
            await self.inner.scoped(tenant).delete(run_id)


Replica = IndexReplica | CopyReplica


def _begins(state: State, held: Run) -> bool:
    lacking = state.since(held.version)
    return lacking is not None and _leads_to(held, lacking, state.run)


def _leads_to(held: Run | None, entries: Sequence[Entry], run: Run) -> bool:
    """True when these entries turn one state of a run into another."""
    try:
        if held is None:
            return bool(entries) and Run.replay(entries) == run
        for entry in entries:
            held = held.apply(entry)
    except (KeyError, ValueError):
        return False
    return held == run


def _remember(known: OrderedDict[tuple[str, str], T], key: tuple[str, str], value: T) -> None:
    known[key] = value
    while len(known) > _KNOWN_RUNS:
        known.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of a store."""

    log: Part[ThoughtStore]
    """Decides versions and claims."""
    replicas: tuple[Replica, ...]
    """Index and copies, which get what the log has a moment later."""

    @property
    def parts(self) -> tuple[Part[ThoughtStore] | Replica, ...]:
        """All of them."""
        return (self.log, *self.replicas)

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the replicas."""
        return tuple(replica.name for replica in self.replicas)

    @property
    def copies(self) -> list[CopyReplica]:
        """The copies of the log."""
        return [each for each in self.replicas if isinstance(each, CopyReplica)]

    @property
    def indexes(self) -> list[IndexReplica]:
        """The search indexes."""
        return [each for each in self.replicas if isinstance(each, IndexReplica)]

    def log_of(self, tenant: str) -> ThoughtStore:
        """The log as a tenant sees it."""
        return self.log.inner.scoped(tenant)


def lay_out(stores: Sequence[ThoughtStore | SearchIndex], *, retry_after: float) -> Layout:
    """Assign the stores their parts: the first one that lasts is the log."""
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
