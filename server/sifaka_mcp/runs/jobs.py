"""The runs that a process works on, also after their request was answered."""

import asyncio
import logging
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, cast

import anyio
import anyio.abc

from sifaka.calls.allowance import charging
from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Suspended
from sifaka.chain import Listener
from sifaka.chain.cancellation import cancellation, interruption
from sifaka.errors import SifakaError
from sifaka.isolation import sharing
from sifaka.record.entries import Stopped
from sifaka_mcp.runs.accounts import Accounts
from sifaka_mcp.runs.leases import Leases, guard
from sifaka_mcp.runs.work import Assignment, Job, Result, RunKey, Work

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
        leases: Leases | None = None,
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

    async def offer(self, assignment: Assignment, listener: Listener) -> Job | None:
        """Put a run into the queue.

        Returns:
            The job it becomes if this process is the one to take it, with the listener; None when
            the run has to be worked on here.
        """
        if self.queue is None or assignment.needs_host:
            return None
        job = self._offered[assignment.key] = Job(assignment, queued=True, listeners=[listener])
        if await self.queue.add(assignment.key, assignment.run.version):
            return job
        self.withdraw(job)
        return None

    def withdraw(self, job: Job) -> None:
        """Do not count on a job any more that has been offered."""
        if self._offered.get(job.assignment.key) is job:
            del self._offered[job.assignment.key]

    async def take(self, assignment: Assignment, work: "Work[RunResult]") -> bool:
        """Work on a run from the queue.

        Returns:
            Whether the run is done with; False when it is left to another worker.

        Raises:
            SifakaError: The work failed, and may be tried again.
        """
        key = assignment.key
        while (other := self._jobs.get(key)) is not None:
            await other.finished.wait()
        if self.stopping:
            return False
        if (job := self._offered.pop(key, None)) is None:
            job = Job(assignment, queued=True)
            job.left.set()
        self._jobs[key] = job
        job.begun.set()
        await self._work(job, work)
        if job.can_be_tried_again:
            raise cast("SifakaError", job.error)
        return job.on_purpose or (job.result or job.error or job.suspended) is not None

    async def run(
        self,
        assignment: Assignment,
        work: Work[Result],
        *,
        until: float,
        listener: Listener | None = None,
        keeps: bool = False,
        resumes: bool = False,
    ) -> Result | None:
        """Work on a run in this process and wait for it until a moment of the loop's clock.

        While the caller waits, the events go to `listener`; a cancelled wait cancels the run unless
        `keeps`. At the moment, or when the process is about to end, the run goes on.

        Returns:
            The result, or None when the run goes on, here or elsewhere, or was cancelled.

        Raises:
            SifakaError: The tenant has as many runs in progress as may be.
            Exception: What the work raised.
            Suspended: It waits for answers of the host.
        """
        key = assignment.key
        with anyio.CancelScope(deadline=until):
            while (other := self._jobs.get(key)) is not None:
                await other.finished.wait()
        if key in self._jobs:
            return None
        self._check_room(assignment.tenant)
        if resumes and self._leases is not None and not await self._leases.claim(key):
            return None
        job = self._jobs[key] = Job(assignment)
        if listener is not None:
            job.listeners.append(listener)
        self._group.start_soon(self._work, job, work)
        try:
            await self._wait_for(job, until)
        except anyio.get_cancelled_exc_class():
            if not (keeps or self.stopping) and self._jobs.get(key) is job:
                await self.cancel(key)
            raise
        finally:
            if listener is not None:
                job.listeners.remove(listener)
            job.left.set()
        if job.error is not None:
            raise job.error
        if job.suspended is not None:
            raise job.suspended
        return cast("Result | None", job.result)

    async def join(self, key: RunKey, listener: Listener) -> None:
        """Wait until this process does not work on a run any more, or is about to end."""
        if (job := self._jobs.get(key)) is not None:
            job.listeners.append(listener)
            try:
                await job.answerable.wait()
            finally:
                job.listeners.remove(listener)

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

    async def _wait_for(self, job: Job, until: float) -> None:
        if not self.stopping:
            with anyio.CancelScope(deadline=until):
                await job.answerable.wait()
        if not job.finished.is_set():
            # An answer `running` is a promise, also if this process dies now.
            job.left.set()
            with anyio.move_on_after(_LEASING_SECONDS):
                await job.leased.wait()

    async def _work(self, job: Job, work: "Work[RunResult]") -> None:
        key, leases = job.assignment.key, None if job.queued else self._leases
        self._group.start_soon(guard, job, leases)
        try:
            account = self._accounts and self._accounts.of(key.tenant)
            with job.scope, sharing(key.tenant), charging(account):
                job.result = await work(job.tell, lambda: self._parting(job))
        except Suspended as suspended:
            job.suspended = suspended
        # A waiting caller gets it raised; a run in the background must not take the others down.
        except Exception as error:  # noqa: BLE001 - kept, and reported when no caller waits
            retried = job.queued and isinstance(error, SifakaError)
            if job.left.is_set() and not retried:
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
