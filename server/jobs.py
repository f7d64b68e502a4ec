"""Runs that go on after their request was answered."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

import anyio
import anyio.abc

from sifaka.chain import Listener, RunResult
from sifaka.events import ChainEvent
from sifaka.hosts import Suspended
from sifaka.reporting import report_failure

logger = logging.getLogger(__name__)

_PARTING_SECONDS = 10
"""How long a cancelled run may take to put its end on record."""

Result = TypeVar("Result", bound=RunResult)
Work = Callable[[Listener], Awaitable[Result]]


@dataclass(eq=False)
class _Job:
    listener: Listener | None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    finished: anyio.Event = field(default_factory=anyio.Event)
    result: RunResult | None = None
    error: Exception | None = None
    suspended: Suspended | None = None


class Jobs:
    """The runs this process is working on, by run id."""

    def __init__(self, group: anyio.abc.TaskGroup) -> None:
        self._group = group
        self._jobs: dict[str, _Job] = {}

    async def run(
        self,
        run_id: str,
        work: Work[Result],
        *,
        wait_seconds: float,
        listener: Listener | None = None,
    ) -> Result | None:
        """Work on a run and wait for it, but not longer than `wait_seconds`.

        While somebody waits, the events go to `listener`; a cancelled wait cancels the run. After
        `wait_seconds` the run goes on by itself.

        Returns:
            The result, or None when the run goes on.

        Raises:
            Exception: What the work raised.
            Suspended: It waits for answers of the host.
        """
        with anyio.move_on_after(wait_seconds):
            while (other := self._jobs.get(run_id)) is not None:
                await other.finished.wait()
        if run_id in self._jobs:
            return None
        job = self._jobs[run_id] = _Job(listener)
        self._group.start_soon(self._work, run_id, job, work)
        try:
            with anyio.move_on_after(wait_seconds):
                await job.finished.wait()
        except anyio.get_cancelled_exc_class():
            await self.cancel(run_id)
            raise
        finally:
            job.listener = None
        if job.error is not None:
            raise job.error
        if job.suspended is not None:
            raise job.suspended
        return cast("Result | None", job.result)

    async def cancel(self, run_id: str) -> None:
        """Stop working on a run, if it is one of ours, and wait until its end is on record."""
        if job := self._jobs.get(run_id):
            job.scope.cancel()
            with anyio.move_on_after(_PARTING_SECONDS, shield=True):
                await job.finished.wait()

    async def _work(self, run_id: str, job: _Job, work: Work[RunResult]) -> None:
        async def tell(event: ChainEvent) -> None:
            if job.listener is not None:
                await job.listener(event)

        try:
            with job.scope:
                job.result = await work(tell)
        except Suspended as suspended:
            job.suspended = suspended
        # Whoever waits gets it raised; a run nobody waits for must not take the others down.
        except Exception as error:  # noqa: BLE001 - kept, and reported when nobody waits for it
            if job.listener is None:
                report_failure(logger, "background run", error, run_id=run_id)
            job.error = error
        finally:
            del self._jobs[run_id]
            job.finished.set()
