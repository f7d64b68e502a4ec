"""The runs that a process works on, also after their request was answered."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, cast

import anyio
import anyio.abc

from sifaka.calls.allowance import charging
from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Suspended
from sifaka.chain import Listener, follow_run
from sifaka.chain.cancellation import cancellation, interruption
from sifaka.errors import SifakaError
from sifaka.isolation import sharing
from sifaka.record.entries import Stopped
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.runs.accounts import Accounts
from sifaka_mcp.runs.leases import Leases, guard
from sifaka_mcp.runs.work import Job, Result, RunKey, Work

if TYPE_CHECKING:
    from sifaka.chain import RunResult
    from sifaka_mcp.runs.queue import RunQueue

logger = logging.getLogger(__name__)

_PARTING_SECONDS = 10
"""Seconds that a cancelled run may take to record its end."""
_GRACE_SECONDS = 2.0
"""Seconds that pending requests may wait for their runs when the process is told to end."""
_LEASING_SECONDS = 2
"""Seconds that an answer waits until others know of the run."""
_HERE_SECONDS = 0.25
"""After which a queued run that has not begun in this process is followed in the store."""
_LOOK_AGAIN = 1.0
"""Seconds between two checks that a run is still worked on."""


class Jobs:
    """The runs this process is working on.

    Where there is a queue, runs pass through it: any process that shares it works on them. Without
    one, and where a run needs the connection it came by, the work is done here: a run that takes
    longer is held by a lease then, and watched for a cancellation elsewhere.

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
        leases: "Leases | None" = None,
        queue: "RunQueue | None" = None,
        accounts: Accounts | None = None,
    ) -> None:
        self._group = group
        self._leases = queue or leases
        self.queue, self._accounts, self._most = queue, accounts, most
        self._jobs: dict[RunKey, Job] = {}
        self._offered: dict[RunKey, Job] = {}
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
        return key in self._jobs

    async def attended(self, key: RunKey, *, in_doubt: bool = False) -> bool:
        """True when a run is worked on, here or elsewhere, or waits in the queue, or in doubt."""
        if key in self._jobs or self._leases is None:
            return key in self._jobs
        held = await self._leases.held(key)
        return in_doubt if held is None else held

    async def take(self, job: Job, work: "Work[RunResult]") -> bool:
        """Work on a run from the queue.

        Returns:
            Whether the run is done with; False when it is left to another worker.

        Raises:
            SifakaError: The work failed, and may be tried again.
        """
        while (other := self._jobs.get(job.key)) is not None:
            await other.finished.wait()
        if self.stopping:
            return False
        if (offered := self._offered.pop(job.key, None)) is None:
            job.queued = True
            job.request_gone.set()
        job = self._jobs[job.key] = offered or job
        job.begun.set()
        await self._work(job, work)
        if job.can_be_tried_again:
            raise cast("SifakaError", job.error)
        return job.on_purpose or (job.result or job.error) is not None

    async def run(
        self,
        job: Job,
        work: Work[Result],
        *listeners: Listener,
        until: float,
        keeps: bool = False,
        resumes: bool = False,
        queues: bool = False,
    ) -> Result | None:
        """Have a run worked on and wait for it until a moment of the loop's clock.

        While the caller waits, the events go to `listeners`; a cancelled wait cancels the run
        unless `keeps`. At the moment, or when the process is about to end, the run goes on.

        Args:
            job: The run.
            work: What is done in this process.
            listeners: Are told what happens, here or elsewhere.
            until: The moment.
            keeps: True when the run goes on without its client.
            resumes: True to leave it to another process that is faster.
            queues: True when any process may do the work, by the run's record.

        Returns:
            The result, or None when the run goes on, here or elsewhere, or was cancelled.

        Raises:
            SifakaError: The tenant has as many runs in progress as may be.
            Exception: What the work raised in this process.
            Suspended: It waits for answers of the host.
        """
        with job.heard_by(*listeners):
            try:
                is_begun = queues and await self._offer(job)
                if not is_begun and not await self._begin(job, work, until, resumes=resumes):
                    return None
                await self._wait_for(job, until)
            except anyio.get_cancelled_exc_class():
                is_ours = job.queued or self._jobs.get(job.key) is job
                if is_ours and not (keeps or self.stopping):
                    await self.cancel(job.key)
                raise
            finally:
                self._withdraw(job)
                job.request_gone.set()
        if job.error is not None:
            raise job.error
        return cast("Result | None", job.result)

    async def join(self, job: Job, listener: Listener) -> None:
        """Wait until no process works on a run any more, or this one is about to end.

        Raises:
            StorageError: The store failed.
        """
        if (own := self._jobs.get(job.key)) is None:
            await self._follow(job, listener, self.stopped)
        else:
            with own.heard_by(listener):
                await own.answerable.wait()

    async def cancel(self, key: RunKey) -> None:
        """Stop working on a run, if it is one of ours, and wait until its end is on record."""
        if job := self._jobs.get(key):
            job.on_purpose = True
            job.scope.cancel()
            with anyio.move_on_after(_PARTING_SECONDS, shield=True):
                await job.finished.wait()

    def stop(self) -> None:
        """Answer pending requests within seconds, for a process that ends; from any thread."""
        self.stopping = True
        with suppress(RuntimeError):  # the loop is closed: no request is pending
            self._loop.call_soon_threadsafe(self._loop.call_later, _GRACE_SECONDS, self._answer_all)

    async def aclose(self) -> None:
        """Stop all work: other workers go on with it, or it is on record as interrupted."""
        self.stopping = True
        self._answer_all()
        if self.queue is not None:
            self.queue.stop()  # or it would get what it hands back
        for job in (jobs := tuple(self._jobs.values())):
            job.scope.cancel()
        with anyio.move_on_after(_PARTING_SECONDS):
            for job in jobs:
                await job.finished.wait()
        if self.queue is not None:
            await self.queue.aclose()

    def _check_room(self, tenant: str) -> None:
        if self.queue is not None and self.queue.is_open:
            return  # it waits there for its turn
        busy = sum(key.tenant == tenant for key in self._jobs) + self._expected[tenant]
        if busy >= self._most:
            raise SifakaError(
                f"{busy} runs are in progress already, and no more may be",
                "wait for one with resume_run, or stop one with cancel_run",
                retryable=True,
            )

    async def _offer(self, job: Job) -> bool:
        """Put a run into the queue; False when it has to be worked on here."""
        if self.queue is None or job.needs_host:
            return False
        self._offered[job.key], job.queued = job, True
        if not await self.queue.add(job.key, job.run.version):
            self._withdraw(job)
            job.queued = False
        return job.queued

    def _withdraw(self, job: Job) -> None:
        """Do not count on a job any more that has been offered."""
        if self._offered.get(job.key) is job:
            del self._offered[job.key]

    async def _begin(
        self, job: Job, work: "Work[RunResult]", until: float, *, resumes: bool
    ) -> bool:
        """Begin with the work in this process; False when the run is worked on otherwise."""
        with anyio.CancelScope(deadline=until):
            while (other := self._jobs.get(job.key)) is not None:
                await other.finished.wait()
        if job.key in self._jobs:
            return False
        self._check_room(job.tenant)
        if resumes and self._leases is not None and not await self._leases.claim(job.key):
            return False
        self._jobs[job.key] = job
        self._group.start_soon(self._work, job, work)
        return True

    async def _wait_for(self, job: Job, until: float) -> None:
        if not self.stopping:
            with anyio.CancelScope(deadline=until):
                if not job.queued or await self._comes_here(job):
                    await job.answerable.wait()
        if not (job.queued or job.finished.is_set()):
            # An answer `running` is a promise, also if this process dies now.
            job.request_gone.set()
            with anyio.move_on_after(_LEASING_SECONDS):
                await job.leased.wait()

    async def _comes_here(self, job: Job) -> bool:
        """Follow a queued run until this process takes it; False when it never does."""
        with anyio.move_on_after(_HERE_SECONDS):
            await job.begun.wait()
        if not job.begun.is_set():
            await self._follow(job, job.tell, self.stopped, job.begun)
        self._withdraw(job)
        return job.begun.is_set()

    async def _follow(self, job: Job, listen: Listener, *ends: anyio.Event) -> None:
        """Pass on what another process stores, for as long as there is one, or until an event."""
        failure: SifakaError | None = None
        async with anyio.create_task_group() as group:

            async def end_after(wait: Callable[[], Awaitable[None]]) -> None:
                await wait()
                group.cancel_scope.cancel()

            # A store that fails for good ends the waiting too.
            for wait in (partial(self._unattended, job.key), *(event.wait for event in ends)):
                group.start_soon(end_after, wait)
            try:
                await until_stopped(job.store, job.run, listen)
            except SifakaError as error:
                failure = error
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _unattended(self, key: RunKey) -> None:
        """Wait until no process works on a run."""
        while await self.attended(key, in_doubt=True):  # noqa: ASYNC110 - there is no event
            await anyio.sleep(_LOOK_AGAIN)
        await anyio.sleep(_LOOK_AGAIN)  # what was stored last is passed on too

    async def _work(self, job: Job, work: "Work[RunResult]") -> None:
        key, leases = job.key, None if job.queued else self._leases
        self._group.start_soon(guard, job, leases)
        try:
            account = self._accounts and self._accounts.of(key.tenant)
            with job.scope, sharing(key.tenant), charging(account):
                job.result = await work(job.tell, lambda: self._parting(job))
        # A waiting caller gets it raised; a run in the background must not take the others down.
        except (Exception, Suspended) as error:  # noqa: BLE001 - kept, and reported when no caller waits
            expected = (Suspended, SifakaError) if job.queued else Suspended
            if job.request_gone.is_set() and not isinstance(error, expected):
                report_failure(logger, "background run", error, run_id=key.run_id)
            job.error = error
        finally:
            with anyio.move_on_after(_PARTING_SECONDS, shield=True):
                job.guarding.cancel()
                if leases is not None:
                    await leases.let_go(key)
            del self._jobs[key]
            for event in (job.finished, job.answerable, job.leased):
                event.set()

    def _parting(self, job: Job) -> Stopped | None:
        """The parting to record for work that is being cancelled."""
        if job.on_purpose or not self.stopping:
            return cancellation()
        return None if job.queued else interruption()

    def _answer_all(self) -> None:
        self.stopped.set()
        for job in self._jobs.values():
            job.answerable.set()


async def until_stopped(store: ThoughtStore, run: Run, listen: Listener) -> None:
    """Pass on what is stored until the run has stopped."""
    after, stopped = run.version, False
    while not stopped:
        async with aclosing(follow_run(store, run.run_id, after=after)) as events:
            async for event in events:
                await listen(event)
                if event.run is not None:
                    after, stopped = event.run.version, event.run.status != "running"
                if stopped:
                    break
        if not stopped:  # one that was interrupted is over until the work on it brings something
            await anyio.sleep(_LOOK_AGAIN)
