"""The base of stores: views of one tenant each, search by reading the runs, repair, and workers."""

import copy
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Generic, Self, TypeVar

import anyio
from anyio import CancelScope, CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from sifaka.errors import AppendRefused, SifakaError, StorageError, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.bm25 import scan_log
from sifaka.storage.entry_json import apply_entry
from sifaka.storage.log import LOOK_AGAIN, load_if_there, push
from sifaka.storage.protocol import ANY, Filters, Hits, ThoughtStore

logger = logging.getLogger(__name__)
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(eq=False, repr=False)
class TenantView:
    """A log or an index as one tenant sees it; all views share connections and state."""

    _place: str
    tenant: str
    """The tenant whose runs are seen."""
    _close: Callable[[], Awaitable[None]] | None = None
    """Releases what all views share; None where there is nothing to close, as for a view."""

    @property
    def place(self) -> str:
        """The place, for people, such as its URL; without secrets."""
        return self._place

    async def catch_up(self) -> int:
        """0: nothing is put off."""
        return 0

    def scoped(self, tenant: str) -> Self:
        """The same as another tenant sees it."""
        view = copy.copy(self)
        view.tenant, view._close = tenant, None  # noqa: SLF001 - its own class
        return view

    async def aclose(self) -> None:
        """Release files and connections, for all views; a view releases nothing."""
        if self._close is not None:
            await self._close()


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

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `ThoughtStore.follow`."""
        run: Run | None = None
        while True:
            for entry in await self.entries_after(run_id, run.version if run else 0):
                run = apply_entry(run_id, run, entry)
                if run.version > after:
                    yield entry, run
            if run is not None and run.finished:
                return
            await anyio.sleep(LOOK_AGAIN)

    @abstractmethod
    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version; raises what `load` does."""


@dataclass(frozen=True, slots=True)
class State:
    """A run and its last entries."""

    run: Run
    after: int
    """The number of entries of the run before these."""
    entries: Sequence[Entry]
    at: float
    """When the last of them was kept, by the monotonic clock."""


class Newest(OrderedDict[Key, Value]):
    """The values that were set last. Several event loops may use it.

    Args:
        most: The values that are held.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        """Set a value, which is the newest then."""
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self._most:
            self.popitem(last=False)


class Acknowledged(Newest[tuple[str, str], State]):
    """What a log has acknowledged, by tenant and run; another process may have appended since."""

    source = ""
    """Which log it was; empty as long as it is unknown."""


_RECENT = 600.0
"""Seconds since its last entry in which a run that is not there at all counts as lost. Beyond
that it is more likely that another process has deleted it."""


def identity_of(path: Path) -> str:
    """The identity of a file or a folder: one put in its place has another; empty without one."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"


class RepairingStore(LogStore):
    """A `LogStore` that restores entries its log has lost, unless a rival has written others.

    Args:
        place: The place, for people; without secrets.
        tenant: The tenant whose runs are seen.
        close: Releases what all views share.
    """

    def __init__(
        self, place: str, tenant: str, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        super().__init__(place, tenant, close)
        self._acknowledged = Acknowledged(100)
        """By this process, of all tenants: the runs at work, and more than are lost in a second."""

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `ThoughtStore.append`."""
        kept = tuple(entries)
        try:
            await self._append(run, kept, expected_version=expected_version, fence=fence)
        except VersionConflict as conflict:
            if conflict.found >= expected_version:
                raise
            await self._bring_back(run.run_id, fence=fence)
            await self._append(run, kept, expected_version=expected_version, fence=fence)
        states, key = self._acknowledged, (self.tenant, run.run_id)
        if not states.source:
            states.source = await self._find_identity()
        last = states.get(key)
        if last is not None and last.run.version == expected_version:
            kept, expected_version = (*last.entries, *kept), last.after
        states[key] = State(run, expected_version, kept, time.monotonic())

    async def catch_up(self) -> int:
        """Bring back what a log that was restarted or replaced has lost, of all tenants.

        Where that fails it is tried again next time; nothing else is put off.
        """
        states = self._acknowledged
        if states.source and (now := await self._find_identity()) not in {states.source, ""}:
            with suppress(StorageError):
                for tenant, run_id in list(states):
                    await self.scoped(tenant)._bring_back(run_id)  # noqa: SLF001 - its own class
                states.source = now
        return 0

    async def _bring_back(self, run_id: str, *, fence: int | None = None) -> None:
        """Append again what the log has lost of a run, where this process has written it.

        A run that is not there at all stays so unless the log was restarted or replaced: in the
        same one it was deleted.

        Raises:
            StorageError: The log failed.
        """
        state = self._acknowledged.get((self.tenant, run_id))
        held = await load_if_there(self, run_id)
        current = 0 if held is None else held.version
        if state is None or current >= state.run.version:
            return
        if not current:
            recent = time.monotonic() - state.at < _RECENT
            if not recent or await self._find_identity() in {self._acknowledged.source, ""}:
                return
        if current < state.after:
            logger.warning(
                "this process, which has not written entries %d to %d of run %r, cannot bring back "
                "what the store has lost",
                *(current + 1, state.after, run_id),
            )
            return
        try:
            await push(self, run_id, state.after, state.entries, fence=fence, append=self._append)
        except AppendRefused:
            return  # another process has gone on from what was left
        logger.warning(
            "the store had lost entries %d to %d of run %r; they are stored again",
            *(current + 1, state.run.version, run_id),
        )

    async def _find_identity(self) -> str:
        with suppress(StorageError):
            return await self._read_identity()
        return ""

    @abstractmethod
    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        """As `append`, into the log as it is."""

    @abstractmethod
    async def _read_identity(self) -> str:
        """The log at this moment: another one after a restart or a replacement."""


class ErasingStore(RepairingStore):
    """A `RepairingStore` that deletes many runs at once: an `Eraser`."""

    async def delete(self, run_id: str) -> None:
        """Forget a run; see `ThoughtStore.delete`."""
        self._acknowledged.pop((self.tenant, run_id), None)
        await self._remove({run_id: None})

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Forget the runs that are still as these lines say; see `Eraser`."""
        moments = {line.run_id: line.updated_at for line in lines}
        stayed = await self._remove(moments)
        for run_id in moments.keys() - stayed:
            self._acknowledged.pop((self.tenant, run_id), None)
        return stayed

    @abstractmethod
    async def _remove(self, moments: Mapping[str, datetime | None]) -> frozenset[str]:
        """Forget runs; where a moment is given only if the last entry is of it.

        Returns:
            The ids of those that stay.
        """


T = TypeVar("T")
Opened = TypeVar("Opened")


class Worker(ABC, Generic[Opened]):
    """Runs functions on what it has open, in threads, so that no event loop waits for them.

    Nothing in it belongs to an event loop, so it outlives them; the first function opens it.

    Args:
        name: What is opened, for people.
        most: How many functions are at work; further tasks wait for their turn, those of one event
            loop without a thread.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._opened: Opened | None = None
        self._closed = False
        self._guard = threading.Lock()
        self._turns = threading.Semaphore(most)
        self._limiters: RunVar[CapacityLimiter] = RunVar(name)

    @property
    def used(self) -> bool:
        """True while it is open."""
        return self._opened is not None

    async def run(self, work: Callable[[Opened], T]) -> T:
        """The function's result. A task that is cancelled meanwhile waits for its end."""
        limiter = self._limiters.get(None)
        if limiter is None:
            limiter = CapacityLimiter(self._most)
            self._limiters.set(limiter)
        return await to_thread.run_sync(self._run, work, limiter=limiter)

    async def aclose(self) -> None:
        """Close when the functions at work are done; further calls change nothing."""
        with CancelScope(shield=True):
            await to_thread.run_sync(self._finish)

    def _run(self, work: Callable[[Opened], T]) -> T:
        try:
            with self._turns:
                with self._guard:
                    if self._closed:
                        raise StorageError(f"{self._name} is closed", "open it again")
                    self._opened = self._open(self._opened)
                return work(self._opened)
        except SifakaError:
            raise
        except Exception as error:
            if translated := self._translate(error):
                raise translated from error
            raise

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
    def _open(self, current: Opened | None) -> Opened:
        """What is open, if it is of use still, or a new one."""

    @abstractmethod
    def _close(self, opened: Opened) -> None:
        """Release it."""

    def _translate(self, error: Exception) -> SifakaError | None:
        """The error that says what to do about one of a library; None for any other."""
        return None
