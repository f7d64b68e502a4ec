"""The runs that a process works on, also after their request was answered, and their leases."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast
from weakref import WeakValueDictionary

import anyio
import anyio.abc

from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Suspended
from sifaka.calls.ledger import charging
from sifaka.chain import CancelEntry, Listener, follow_run, is_interrupted
from sifaka.chain.cancellation import cancellation, interruption
from sifaka.errors import AppendRefused, SifakaError, StorageError, ThoughtNotFound
from sifaka.isolation import sharing
from sifaka.models import HOST
from sifaka.record.entries import Stopped
from sifaka.record.run import ChainEvent, Run
from sifaka.storage.files.durable import LockFile, file_name
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.runs.daily_spending import Accounts

if TYPE_CHECKING:
    from sifaka.chain import RunResult
    from sifaka_mcp.runs.queue import RunQueue

logger = logging.getLogger(__name__)

Result = TypeVar("Result", bound="RunResult")
Work = Callable[[Listener, CancelEntry], Awaitable[Result]]
"""Works on a run: tells a listener what happens, and asks what to record when it is cancelled."""

_PARTING_SECONDS = 10
"""Seconds that a cancelled run may take to record its end."""
_GRACE_SECONDS = 2.0
"""Seconds that pending requests may wait for their runs when the process is told to end."""
_HERE_SECONDS = 0.25
"""After which a queued run that has not begun in this process is followed in the store."""
_LOOK_AGAIN = 1.0
"""Seconds between two checks that a run is still worked on, or is resumed."""
_SILENT_SECONDS = 4.0
"""Seconds without an event after which a run is watched for a cancellation elsewhere. One that
always moves needs no second reader: its next entry is refused."""


class RunKey(NamedTuple):
    """The identity of a run among those of all tenants."""

    tenant: str
    run_id: str

    @property
    def name(self) -> str:
        """The name of its task in the queue."""
        # The id first: what is before a colon could be one of the queue's own names.
        return f"{self.run_id}@{self.tenant}"


class Runs:
    """The runs this process is working on.

    Where there is a queue, runs pass through it: any process that shares it works on them. Without
    one, and where a run needs the connection it came by, the work is done here: a lease shows that
    to others, and a run that takes longer is watched for a cancellation elsewhere.

    Args:
        group: In which the work is done.
        most: Runs in progress for each tenant, where there is no queue.
        leases: Shown to other processes; None where the store is this process's alone.
        queue: Shared with other processes.
        accounts: What the work is charged to, besides each run's own budget.
    """

    def __init__(
        self,
        group: anyio.abc.TaskGroup,
        *,
        most: int,
        leases: "FileLeases | None" = None,
        queue: "RunQueue | None" = None,
        accounts: Accounts | None = None,
    ) -> None:
        self._group = group
        self._leases = queue or leases
        self.queue, self.accounts, self._most = queue, accounts, most
        self._tickets: dict[RunKey, Ticket] = {}
        self._offered: WeakValueDictionary[RunKey, Ticket] = WeakValueDictionary()
        """To the queue, for as long as their requests wait."""
        self._expected: Counter[str] = Counter()
        self._loop = asyncio.get_running_loop()
        self.stopping = False
        self.stopped = anyio.Event()
        """Set soon after `stopping`, when the process is about to end."""

    @contextmanager
    def room(self, tenant: str) -> Generator[None]:
        """Within it there is room for one more run, which is about to be started.

        Raises:
            SifakaError: The tenant has as many runs in progress as may be, and there is no queue.
        """
        self._check_room(tenant)
        self._expected[tenant] += 1
        try:
            yield
        finally:
            self._expected[tenant] -= 1

    def works_on(self, key: RunKey) -> bool:
        """True when this process works on a run."""
        return key in self._tickets

    async def attended(self, key: RunKey, *, in_doubt: bool = False) -> bool:
        """True when a run is worked on, here or elsewhere, or waits in the queue, or in doubt."""
        if key in self._tickets or self._leases is None:
            return key in self._tickets
        held = await self._leases.held(key)
        return in_doubt if held is None else held

    async def submit(
        self,
        ticket: "Ticket",
        work: Work[Result],
        *,
        until: float,
        queues: bool = False,
    ) -> bool:
        """Have a run worked on, by the process that takes it from the queue or by this one.

        Args:
            ticket: The run.
            work: What is done in this process.
            until: A moment of the loop's clock, until which other work on the run is waited for.
            queues: True when any process may do the work, by the run's record.

        Returns:
            False when it is worked on otherwise: another process may have been faster.

        Raises:
            SifakaError: The tenant has as many runs in progress as may be.
        """
        if queues and await self._offer_run(ticket):
            return True
        with anyio.CancelScope(deadline=until):
            while (other := self._tickets.get(ticket.key)) is not None:
                await other.finished.wait()
        if ticket.key in self._tickets:
            return False
        self._check_room(ticket.key.tenant)
        if self._leases is not None and not await self._leases.claim(ticket.key):
            return False
        self._tickets[ticket.key] = ticket
        ticket.begun.set()
        self._group.start_soon(self._work, ticket, work)
        return True

    async def take(self, ticket: "Ticket", work: "Work[RunResult]") -> bool:
        """Work on a run from the queue.

        Returns:
            Whether the run is done with; False when it is left to another worker.

        Raises:
            SifakaError: The work failed, and may be tried again.
        """
        while (other := self._tickets.get(ticket.key)) is not None:
            await other.finished.wait()
        if self.stopping:
            return False
        offered = self._offered.pop(ticket.key, None)
        ticket.request_gone = offered is None
        ticket = self._tickets[ticket.key] = offered or ticket
        ticket.queued = True
        ticket.begun.set()
        await self._work(ticket, work)
        if ticket.can_be_tried_again:
            raise cast("SifakaError", ticket.error)
        return ticket.on_purpose or (ticket.result or ticket.error) is not None

    async def join(self, ticket: "Ticket", listener: Listener) -> None:
        """Wait until no process works on a run any more, or this one is about to end.

        Raises:
            StorageError: The store failed.
        """
        own = self._tickets.get(ticket.key, ticket)
        with own.heard_by(listener):
            await own.ended()

    async def cancel(self, key: RunKey) -> None:
        """Stop working on a run, if it is one of ours, and wait until its end is on record."""
        if ticket := self._tickets.get(key):
            ticket.on_purpose = True
            ticket.scope.cancel()
            with anyio.move_on_after(_PARTING_SECONDS, shield=True):
                await ticket.finished.wait()

    def stop(self) -> None:
        """Answer pending requests within seconds, for a process that ends; from any thread."""
        self.stopping = True
        with suppress(RuntimeError):  # the loop is closed: no request is pending
            self._loop.call_soon_threadsafe(self._loop.call_later, _GRACE_SECONDS, self.stopped.set)

    async def aclose(self) -> None:
        """Stop all work: other workers go on with it, or it is on record as interrupted."""
        self.stopping = True
        self.stopped.set()
        if self.queue is not None:
            self.queue.stop()  # or it would get what it hands back
        for ticket in (tickets := tuple(self._tickets.values())):
            ticket.scope.cancel()
        with anyio.move_on_after(_PARTING_SECONDS):
            for ticket in tickets:
                await ticket.finished.wait()
        if self.queue is not None:
            await self.queue.aclose()
        if self.accounts is not None:
            await self.accounts.aclose()

    def _check_room(self, tenant: str) -> None:
        if self.queue is not None and self.queue.is_open:
            return  # it waits there for its turn
        busy = sum(key.tenant == tenant for key in self._tickets) + self._expected[tenant]
        if busy >= self._most:
            raise SifakaError(
                f"{busy} runs are in progress already, and no more may be",
                "wait for one with resume_run, or stop one with cancel_run",
                retryable=True,
            )

    async def _offer_run(self, ticket: "Ticket") -> bool:
        """Put a run into the queue; False when it has to be worked on here."""
        if self.queue is None or ticket.needs_host:
            return False
        self._offered[ticket.key] = ticket
        ticket.queued = await self.queue.add(ticket.key, ticket.run.version)
        if not ticket.queued:
            self._offered.pop(ticket.key, None)
        return ticket.queued

    async def unattended(self, key: RunKey) -> None:
        """Wait until no process works on a run."""
        while await self.attended(key, in_doubt=True):  # noqa: ASYNC110 - there is no event
            await anyio.sleep(_LOOK_AGAIN)
        await anyio.sleep(_LOOK_AGAIN)  # what was stored last is passed on too

    async def _work(self, ticket: "Ticket", work: "Work[RunResult]") -> None:
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(ticket.watch)
                if self.queue is not None and not ticket.queued:
                    group.start_soon(self.queue.renew, ticket.key)
                await ticket.work(work)
                group.cancel_scope.cancel()
        finally:
            if self._leases is not None and not ticket.queued:
                with anyio.move_on_after(_PARTING_SECONDS, shield=True):
                    await self._leases.let_go(ticket.key)
            del self._tickets[ticket.key]
            ticket.finished.set()


@dataclass(eq=False, kw_only=True)
class Ticket:
    """A run to work on, the work of this process on it, and the waiting for its end."""

    runs: Runs
    run: Run
    """As it was before."""
    store: ThoughtStore
    """As the tenant sees it."""
    key: RunKey
    queued: bool = False
    """True when the run is in the queue, where another worker can take it."""
    listeners: list[Listener] = field(default_factory=list[Listener])
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    begun: anyio.Event = field(default_factory=anyio.Event)
    """Set when this process works on it."""
    finished: anyio.Event = field(default_factory=anyio.Event)
    request_gone: bool = False
    """True when the request that asked for it does not wait any more."""
    on_purpose: bool = False
    """True when the run was cancelled for good."""
    result: "RunResult | None" = None
    error: Exception | Suspended | None = None
    last_event_at: float = field(default_factory=anyio.current_time)
    """On the clock of the event loop."""

    @property
    def needs_host(self) -> bool:
        """True when the run asks the model of a client, and so has to stay with its connection."""
        config = self.run.config
        critics = (critic.get("model") for critic in config.critics)
        models = (config.model, config.judge_model, *config.fallback_models, *critics)
        return HOST in models and not self.run.handed_over

    @property
    def can_be_tried_again(self) -> bool:
        """True when it has failed, and not because another process has the run now."""
        error = self.error
        refused = isinstance(error, AppendRefused) or isinstance(
            error and error.__cause__, AppendRefused
        )
        return isinstance(error, SifakaError) and not refused

    async def wait(self, until: float) -> "RunResult | None":
        """Wait for the end of the work until a moment of the loop's clock.

        At the moment, or when the process is about to end, the run goes on.

        Returns:
            The result, or None when the run goes on, here or elsewhere, or was cancelled.

        Raises:
            Exception: What the work raised in this process.
            Suspended: It waits for answers of the host.
        """
        try:
            if not self.runs.stopping:
                with anyio.CancelScope(deadline=until):
                    await self.ended()
        finally:
            self.request_gone = True
        if self.error is not None:
            raise self.error
        return self.result

    async def cancel(self) -> None:
        """Stop the work in this process, and wait until its end is on record.

        Work that another request has begun, and that this ticket only waited for, goes on.
        """
        if self.queued or self.begun.is_set():
            await self.runs.cancel(self.key)

    @contextmanager
    def heard_by(self, listener: Listener) -> Generator[None]:
        """Within it, a listener is called with each event."""
        self.listeners.append(listener)
        try:
            yield
        finally:
            self.listeners.remove(listener)

    async def tell(self, event: ChainEvent) -> None:
        """Pass an event on to every listener."""
        self.last_event_at = anyio.current_time()
        for listener in tuple(self.listeners):
            await listener(event)

    async def work(self, work: "Work[RunResult]") -> None:
        """Do the work, and keep what it comes to."""
        accounts = self.runs.accounts
        account = accounts and accounts.of(self.key.tenant)
        try:
            with self.scope, sharing(self.key.tenant), charging(account):
                self.result = await work(self.tell, self._choose_end_entry)
        # A waiting caller gets it raised; a run in the background must not take the others down.
        except (Exception, Suspended) as error:  # noqa: BLE001 - kept, and reported when no caller waits
            expected = (Suspended, SifakaError) if self.queued else Suspended
            if self.request_gone and not isinstance(error, expected):
                report_failure(logger, "background run", error, run_id=self.run.run_id)
            self.error = error

    async def watch(self) -> None:
        """Stop the work when the run has been cancelled or forgotten elsewhere."""
        try:
            await self._wait_for_cancellation()
            self.on_purpose = True
            self.scope.cancel()
        # The run itself is all right.
        except Exception as error:  # noqa: BLE001 - reported just below
            report_failure(logger, "watch", error, run_id=self.run.run_id)

    def _choose_end_entry(self) -> Stopped | None:
        """The entry to record for work that is being cancelled; None for none."""
        if self.on_purpose or not self.runs.stopping:
            return cancellation()
        return None if self.queued else interruption()

    async def ended(self) -> None:
        """Wait until no process works on the run any more, or this one is about to end.

        What another process stores of it is passed on meanwhile.

        Raises:
            StorageError: The store failed for good.
        """
        stopped = self.runs.stopped.wait
        if self.queued:
            with anyio.move_on_after(_HERE_SECONDS):
                await self.begun.wait()
        if not self.begun.is_set():
            await _wait_for_first(
                partial(until_stopped, self.store, self.run, self.tell),
                partial(self.runs.unattended, self.key),
                self.begun.wait,
                stopped,
            )
        if self.begun.is_set():
            await _wait_for_first(self.finished.wait, stopped)

    async def _wait_for_cancellation(self) -> None:
        """Return when the run has been cancelled or forgotten, as is seen from a first silence on.

        An interrupted process has not cancelled the run, but left it to the next one.
        """
        while (rest := self.last_event_at + _SILENT_SECONDS - anyio.current_time()) > 0:  # noqa: ASYNC110 - a span of time is waited for, no event
            await anyio.sleep(rest)
        while True:
            try:
                return await _follow_until(
                    lambda run: run.status == "cancelled" and not is_interrupted(run),
                    self.store,
                    self.run,
                )
            except ThoughtNotFound:
                return None
            except StorageError:  # the run goes on without its store, and so does this
                await anyio.sleep(_LOOK_AGAIN)


async def until_stopped(store: ThoughtStore, run: Run, listen: Listener) -> None:
    """Pass on what is stored until the run has stopped."""
    await _follow_until(lambda run: run.status != "running", store, run, listen)


async def _follow_until(
    ended: Callable[[Run], bool], store: ThoughtStore, run: Run, listen: Listener | None = None
) -> None:
    """Pass on what is stored of a run from now on, until an entry with which it has ended."""
    while True:
        async with aclosing(follow_run(store, run.run_id, after=run.version)) as events:
            async for event in events:
                run = event.run or run
                if listen is not None:
                    await listen(event)
                if ended(run):
                    return
        # One that was interrupted is over until the work on it brings something.
        await anyio.sleep(_LOOK_AGAIN)


async def _wait_for_first(*waits: Callable[[], Awaitable[object]]) -> None:
    """Wait for what comes first.

    Raises:
        SifakaError: That was a failure.
    """
    try:
        async with anyio.create_task_group() as group:

            async def end_after(wait: Callable[[], Awaitable[object]]) -> None:
                await wait()
                group.cancel_scope.cancel()

            for wait in waits:
                group.start_soon(end_after, wait)
    except ExceptionGroup as failed:  # the task group's, of one failure: it cancels the others
        raise failed.exceptions[0] from failed.exceptions[0].__cause__


class FileLeases:
    """Leases as locked files, which the processes of one machine see.

    The system unlocks the files of a process that ends. No method raises an error of the place
    where leases are kept: a run goes on without one.

    Args:
        folder: Where the files are; it is made with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[RunKey, LockFile] = {}

    async def claim(self, key: RunKey) -> bool:
        """Take a lease that no process holds; False when one does, or has been faster.

        Without rights to the folder any process may go on.
        """
        try:
            if key in self._locks or (lock := self._lock(key)) is None:
                return False
        except OSError:
            return True
        self._locks[key] = lock
        return True

    async def let_go(self, key: RunKey) -> None:
        """Give a lease up."""
        if (lock := self._locks.pop(key, None)) is not None:
            lock.release()

    async def held(self, key: RunKey) -> bool | None:
        """True when a process works on a run; None when that cannot be found out now."""
        with suppress(OSError):
            if self._path(key).exists():
                if not await self.claim(key):
                    return True
                await self.let_go(key)
        return False

    def _lock(self, key: RunKey) -> LockFile | None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return LockFile.take(self._path(key))

    def _path(self, key: RunKey) -> Path:
        return self._folder / f"{file_name(f'{key.tenant}/{key.run_id}')}.lock"
