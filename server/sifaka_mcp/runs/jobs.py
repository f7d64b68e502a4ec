"""Runs that go on after their request was answered."""

import asyncio
import logging
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import cast

import anyio
import anyio.abc

from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Suspended
from sifaka.chain import Listener, RunResult, cancellation, interruption
from sifaka.errors import SifakaError
from sifaka.record.entries import Stopped
from sifaka_mcp.runs.leases import Leases, RunKey, Successor
from sifaka_mcp.runs.watch import stopped_elsewhere
from sifaka_mcp.runs.work import Assignment, Job, Result, Work

logger = logging.getLogger(__name__)

_PARTING_SECONDS = 10
"""How long a cancelled run may take to put its end on record."""
_UNWATCHED_SECONDS = 0.5
"""How long a run is not worth telling others about: most are done by then."""
_GRACE_SECONDS = 2.0
"""How long a run may take to finish for whoever waits for it, when the process is told to end. A
server over HTTP waits longer for its requests."""
_LEASING_SECONDS = 2
"""How long an answer waits for others to know of the run."""


class Jobs:
    """The runs this process is working on.

    A run that takes longer than half a second is held by a lease, which tells other processes, and
    is watched for a cancellation by one of them.

    Args:
        group: In which the work is done.
        leases: How other processes know.
        most: Runs in progress for each tenant.
    """

    def __init__(self, group: anyio.abc.TaskGroup, leases: Leases, *, most: int) -> None:
        self._group = group
        self._leases = leases
        self._most = most
        self._jobs: dict[RunKey, Job] = {}
        self._expected: Counter[str] = Counter()
        self._loop = asyncio.get_running_loop()
        self.stopping = False
        """Whether the process is about to end."""
        self.stopped = anyio.Event()
        """Set soon after `stopping`."""

    @contextmanager
    def room(self, tenant: str) -> Generator[None]:
        """Within it there is room for one more run, which is about to be started.

        Raises:
            SifakaError: The tenant has as many runs in progress as may be.
        """
        self._check_room(tenant)
        self._expected[tenant] += 1
        try:
            yield
        finally:
            self._expected[tenant] -= 1

    def works_on(self, key: RunKey) -> bool:
        """Whether this process works on a run."""
        return key in self._jobs

    async def attended(self, key: RunKey) -> bool:
        """Whether anybody works on a run, here or elsewhere, or will without being asked."""
        return key in self._jobs or await self._leases.held(key)

    async def run(
        self,
        assignment: Assignment,
        work: Work[Result],
        *,
        wait_seconds: float,
        listener: Listener | None = None,
    ) -> Result | None:
        """Work on a run and wait for it, but not longer than `wait_seconds`.

        While somebody waits, the events go to `listener`; a cancelled wait cancels the run. After
        `wait_seconds`, or when the process is about to end, the run goes on by itself.

        Returns:
            The result, or None when the run goes on or was cancelled.

        Raises:
            SifakaError: The tenant has as many runs in progress as may be.
            Exception: What the work raised.
            Suspended: It waits for answers of the host.
        """
        key = assignment.key
        with anyio.move_on_after(wait_seconds):
            while (other := self._jobs.get(key)) is not None:
                await other.finished.wait()
        if key in self._jobs:
            return None
        self._check_room(assignment.tenant)
        job = self._jobs[key] = Job(assignment)
        if listener is not None:
            job.listeners.append(listener)
        self._group.start_soon(self._work, job, work)
        try:
            await self._wait_for(job, wait_seconds)
        except anyio.get_cancelled_exc_class():
            if not self.stopping and self._jobs.get(key) is job:
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
        """Have whoever waits answered within seconds: the process is about to end.

        May be called from a signal handler.
        """
        self.stopping = True
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._loop.call_later, _GRACE_SECONDS, self._answer_all)

    def prepare(self) -> None:
        """Load in the background what work will need."""
        self._leases.prepare()

    async def serve(self) -> None:
        """Take over from other processes, where they share leases that are passed on."""
        await self._leases.serve()

    async def put_off(self, key: RunKey, *, deaths: int) -> None:
        """Have a run taken over later that could not be now."""
        await self._leases.take(key, deaths=deaths - 1)  # nobody has died of that

    async def aclose(self) -> None:
        """Stop all work: other processes go on with it, or it is on record as interrupted."""
        self.stopping = True
        self._answer_all()
        await self._leases.stop_taking_over()  # or it would get what it hands over
        jobs = tuple(self._jobs.values())
        for job in jobs:
            job.scope.cancel()
        with anyio.move_on_after(_PARTING_SECONDS):
            for job in jobs:
                await job.finished.wait()
        await self._leases.aclose()

    def _check_room(self, tenant: str) -> None:
        busy = sum(key.tenant == tenant for key in self._jobs) + self._expected[tenant]
        if busy >= self._most:
            raise SifakaError(
                f"{busy} runs are in progress already, and no more may be",
                "wait for one with resume_run, or stop one with cancel_run",
                retryable=True,
            )

    async def _wait_for(self, job: Job, seconds: float) -> None:
        if not self.stopping:
            with anyio.move_on_after(seconds):
                await job.answerable.wait()
        if not job.finished.is_set():
            # An answer `running` is a promise: whatever becomes of this process now.
            job.left.set()
            with anyio.move_on_after(_LEASING_SECONDS):
                await job.leased.wait()

    async def _work(self, job: Job, work: Work[RunResult]) -> None:
        key = job.assignment.key
        self._group.start_soon(self._guard, job)
        try:
            with job.scope:
                job.result = await work(job.tell, lambda: self._parting(job))
        except Suspended as suspended:
            job.suspended = suspended
        # Whoever waits gets it raised; a run nobody waits for must not take the others down.
        except Exception as error:  # noqa: BLE001 - kept, and reported when nobody waits for it
            if job.left.is_set():
                report_failure(logger, "background run", error, run_id=key.run_id)
            job.error = error
        finally:
            job.guarding.cancel()
            with anyio.move_on_after(_PARTING_SECONDS, shield=True):
                await self._let_go(job)
            del self._jobs[key]
            for event in (job.finished, job.answerable, job.leased):
                event.set()

    async def _guard(self, job: Job) -> None:
        """Make the work on a run known and watch it, once it has proved to be a long one."""
        try:
            with job.guarding:
                with anyio.move_on_after(_UNWATCHED_SECONDS):
                    await job.left.wait()
                async with anyio.create_task_group() as group:
                    group.start_soon(self._hold, job)
                    group.start_soon(self._watch, job)
        # The run itself is all right.
        except Exception as error:  # noqa: BLE001 - reported just below
            report_failure(logger, "watch", error, run_id=job.assignment.run.run_id)

    async def _hold(self, job: Job) -> None:
        while True:
            await self._leases.take(job.assignment.key, deaths=job.assignment.deaths)
            job.leased.set()
            if self._leases.renewal is None:
                return
            await anyio.sleep(self._leases.renewal)

    async def _watch(self, job: Job) -> None:
        given = job.assignment
        await stopped_elsewhere(given.store, given.run.run_id, after=given.run.version)
        job.on_purpose = True
        job.scope.cancel()

    async def _let_go(self, job: Job) -> None:
        successor = self._successor(job)
        if job.leased.is_set() or successor is Successor.NOW:
            key, deaths = job.assignment.key, job.assignment.deaths
            await self._leases.let_go(key, deaths=deaths, successor=successor)

    def _successor(self, job: Job) -> Successor:
        if job.assignment.needs_host:
            return Successor.NOBODY  # no other process can ask the client's model
        if isinstance(job.error, SifakaError):
            return Successor.LATER  # another process may have what it failed for
        left_open = self.stopping and not (job.on_purpose or job.ended_by_itself)
        return Successor.NOW if left_open else Successor.NOBODY

    def _parting(self, job: Job) -> Stopped | None:
        """What to record about work that is being cancelled."""
        if job.on_purpose or not self.stopping:
            return cancellation()
        passed_on = self._leases.passed_on and not job.assignment.needs_host
        return None if passed_on else interruption()

    def _answer_all(self) -> None:
        self.stopped.set()
        for job in self._jobs.values():
            job.answerable.set()
