"""Guards the runs that a process works on: shows them to other processes, and obeys those."""

import logging
from contextlib import aclosing

import anyio

from sifaka.calls.failure_log import report_failure
from sifaka.chain import is_interrupted
from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Stopped
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.runs.leases import Leases, RunKey
from sifaka_mcp.runs.work import Job

logger = logging.getLogger(__name__)

_UNGUARDED_SECONDS = 0.5
"""Seconds before other processes are told of a run; most runs are done by then."""
_PAUSE = 1.0
"""Seconds after which a store that has failed, or a run that was over, is looked at again."""


class RunGuard:
    """Holds a lease on each run that takes long, and stops one that was cancelled elsewhere.

    Args:
        leases: Shown to other processes; None where the store is this process's alone.
    """

    def __init__(self, leases: Leases | None) -> None:
        self._leases = leases

    async def sees(self, key: RunKey) -> bool:
        """True when a process holds a run, or it waits in the queue."""
        return self._leases is not None and await self._leases.held(key)

    async def keep(self, job: Job) -> None:
        """Guard the work on a run until `leave`, once it has proved to be a long one."""
        try:
            with job.guarding:
                with anyio.move_on_after(_UNGUARDED_SECONDS):
                    await job.left.wait()
                async with anyio.create_task_group() as group:
                    group.start_soon(self._hold, job)
                    group.start_soon(_watch, job)
        # The run itself is all right.
        except Exception as error:  # noqa: BLE001 - reported just below
            report_failure(logger, "watch", error, run_id=job.assignment.run.run_id)

    async def leave(self, job: Job) -> None:
        """Give up the lease: the work has ended."""
        job.guarding.cancel()
        if self._leases is not None and job.leased.is_set() and not job.queued:
            await self._leases.let_go(job.assignment.key)

    async def _hold(self, job: Job) -> None:
        while self._leases is not None and not job.queued:
            await self._leases.take(job.assignment.key)
            job.leased.set()
            if self._leases.renewal is None:
                return
            await anyio.sleep(self._leases.renewal)
        job.leased.set()


async def _watch(job: Job) -> None:
    """Cancel the work on a run that has been stopped elsewhere."""
    # A run that moves learns that by its next entry.
    while (rest := job.moved + _UNGUARDED_SECONDS - anyio.current_time()) > 0:  # noqa: ASYNC110
        await anyio.sleep(rest)  # not an event: time is what is waited for
    given = job.assignment
    await _stopped_elsewhere(given.store, given.run.run_id, after=given.run.version)
    job.on_purpose = True
    job.scope.cancel()


async def _stopped_elsewhere(store: ThoughtStore, run_id: str, *, after: int) -> None:
    """Return when a run has been cancelled or forgotten elsewhere.

    An interrupted process has not cancelled the run, but left it to the next one.
    """
    while True:
        try:
            async with aclosing(store.follow(run_id, after=after)) as steps:
                async for entry, run in steps:
                    after = run.version
                    stopped = isinstance(entry, Stopped) and entry.status == "cancelled"
                    if stopped and not is_interrupted(run):
                        return
        except ThoughtNotFound:
            return
        except StorageError:
            pass  # the run goes on without its store, and so does this
        # An interrupted run is over in the store until the work on it has brought something.
        await anyio.sleep(_PAUSE)
