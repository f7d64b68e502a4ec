"""The base of stores: views of one tenant each, search by reading the runs, threads and workers."""

import copy
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Generic, Self, TypeVar, TypeVarTuple

from anyio import CancelScope, CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.bm25 import scan_log
from sifaka.storage.log import follow_by_polling
from sifaka.storage.protocol import ANY, Eraser, Filters, Hits, ThoughtStore


async def erase_each(log: ThoughtStore, lines: Sequence[RunSummary]) -> frozenset[str]:
    """`Eraser.erase`, for any store.

    One that is no `Eraser` deletes run by run, each claimed first, so that its writer is refused.
    """
    if isinstance(log, Eraser):
        return await log.erase(lines)
    stayed: set[str] = set()
    for line in lines:
        try:
            run = await log.load(line.run_id)
            unchanged = run.updated_at == line.updated_at and await log.claim(line.run_id)
            if unchanged and await log.load(line.run_id) == run:
                await log.delete(line.run_id)
                continue
        except ThoughtNotFound:
            continue  # it was gone already
        stayed.add(line.run_id)
    return frozenset(stayed)


class TenantView:
    """A log or an index as one tenant sees it; all views share connections and state."""

    tenant: str
    _owned = True
    """False for a view that `scoped` made, which closes nothing."""

    async def catch_up(self) -> int:
        """0: nothing is put off."""
        return 0

    def scoped(self, tenant: str) -> Self:
        """The same as another tenant sees it."""
        view = copy.copy(self)
        view.tenant, view._owned = tenant, False  # noqa: SLF001 - its own class
        return view

    async def aclose(self) -> None:
        """Release files and connections, for all views; a view releases nothing."""
        if self._owned:
            await self._release()

    async def _release(self) -> None:
        """Close what the views share; by default there is nothing."""


class LogStore(TenantView, ThoughtStore):
    """A `ThoughtStore` of one log, searched by reading its runs."""

    latest: int | None = None
    """The number of the newest runs that a search reads; None for all."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """Empty: a log works, or an append raises."""
        return ()

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions that share words with the query; see `scan_log`."""
        return await scan_log(self, query, limit=limit, only=only, latest=self.latest)


class PolledStore(LogStore):
    """A `LogStore` that does not wake its followers: they look for new entries."""

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `ThoughtStore.follow`."""
        return follow_by_polling(run_id, partial(self.entries_after, run_id), after=after)

    @abstractmethod
    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version; raises what `load` does."""
        ...


T = TypeVar("T")
Args = TypeVarTuple("Args")
Opened = TypeVar("Opened")


class Threads:
    """Runs functions in threads, so many at once for each event loop.

    Nothing in it belongs to an event loop, so it outlives them.

    Args:
        name: What it is for.
        most: How many functions are at work; further tasks wait for their turn without a thread.
    """

    def __init__(self, name: str, most: int) -> None:
        self._most = most
        self._limiters: RunVar[CapacityLimiter] = RunVar(name)

    async def run(self, work: Callable[[*Args], T], *args: *Args) -> T:
        """The function's result. A task that is cancelled meanwhile waits for its end."""
        limiter = self._limiters.get(None)
        if limiter is None:
            limiter = CapacityLimiter(self._most)
            self._limiters.set(limiter)
        return await to_thread.run_sync(work, *args, limiter=limiter)


class Worker(ABC, Generic[Opened]):
    """Runs functions on a connection, in threads, so that no event loop waits for it.

    Nothing in it belongs to an event loop, so it outlives them; the first function that needs the
    connection opens it.

    Args:
        name: What it is for.
        shown: What is connected to, for people.
        most: How many functions are at work.
    """

    def __init__(self, name: str, shown: str, most: int) -> None:
        self._shown = shown
        self._most = most
        self._opened: Opened | None = None
        self._closed = False
        self._guard = threading.Lock()
        # For several loops at once; the tasks of one take turns without a thread.
        self._turns = threading.Semaphore(most)
        self._threads = Threads(name, most)

    @property
    def used(self) -> bool:
        """True while the connection is open."""
        return self._opened is not None

    async def run(self, work: Callable[[Opened], T]) -> T:
        """The function's result. A task that is cancelled meanwhile waits for its end."""
        return await self._threads.run(self._run, work)

    async def aclose(self) -> None:
        """Close when the functions at work are done; further calls change nothing."""
        with CancelScope(shield=True):
            await to_thread.run_sync(self._finish)

    def _run(self, work: Callable[[Opened], T]) -> T:
        with self._turns:
            with self._guard:
                if self._closed:
                    raise StorageError(f"{self._shown} is closed", "open it again")
                self._opened = self._open(self._opened)
            return work(self._opened)

    def _finish(self) -> None:
        with self._guard:
            self._closed = True
        for _ in range(self._most):  # those at work end first
            self._turns.acquire()
        opened, self._opened = self._opened, None
        self._turns.release(self._most)
        if opened is not None:
            self._close(opened)

    @abstractmethod
    def _open(self, known: Opened | None) -> Opened:
        """The connection that is open, if it is of use still, or a new one."""
        ...

    @abstractmethod
    def _close(self, opened: Opened) -> None:
        """Release a connection."""
        ...
