"""Follows a run: its progress, and the work of another process on it."""

from collections.abc import Mapping
from contextlib import aclosing
from types import MappingProxyType

import anyio

from sifaka.chain import Listener, follow_run, is_interrupted
from sifaka.errors import SifakaError
from sifaka.record.entries import Called, Started
from sifaka.record.events import ChainEvent, Phase
from sifaka.record.inquiry import Inquiry
from sifaka.record.run import Run
from sifaka_mcp.runs import Job
from sifaka_mcp.state import AppState
from sifaka_mcp.tools.answer import ToolContext
from sifaka_mcp.view.progress import most_rounds

_HERE_SECONDS = 0.25
"""After which a queued run that has not begun in this process is followed in the store."""
_LOOK_AGAIN = 1.0
"""Seconds between two checks that a run is still worked on."""


async def after_others(state: AppState, run: Run, listen: Listener, *, until: float) -> Run:
    """The run when no process works on it any more, or at a moment of the loop's clock.

    Args:
        state: The tenant's.
        run: As it was last known.
        listen: Is told what happens meanwhile.
        until: The moment.

    Raises:
        StorageError: The store failed.
    """
    key = state.key(run.run_id)
    run = await as_it_stands(state, run)
    if run.status != "running" or not await state.jobs.attended(key):
        return run
    with anyio.CancelScope(deadline=until):
        if state.jobs.works_on(key):
            await state.jobs.join(key, listen)
        else:
            await _follow(state, run, listen)
    return await as_it_stands(state, await state.store.load(run.run_id))


async def after_worker(state: AppState, job: Job, listen: Listener) -> None:
    """Wait until the run of a job that was offered is not worked on any more.

    Args:
        state: The tenant's.
        job: The job, which may come to this process.
        listen: Listens to the job, and is told here what another process does.

    Raises:
        StorageError: The store failed.
    """
    with anyio.move_on_after(_HERE_SECONDS):
        await job.begun.wait()
    if not job.begun.is_set():
        await _follow(state, job.assignment.run, listen, until=job.begun)
    state.jobs.withdraw(job)
    if job.begun.is_set():
        await job.answerable.wait()


async def as_it_stands(state: AppState, run: Run) -> Run:
    """A run of the store, which is running also where its record is still to say so.

    The record of one that was interrupted says so only with what the work on it brings next.
    """
    goes_on = is_interrupted(run) and await state.jobs.attended(state.key(run.run_id))
    return run.reopened() if goes_on else run


async def _follow(
    state: AppState, run: Run, listen: Listener, *, until: anyio.Event | None = None
) -> None:
    """Pass on what another process stores, for as long as there is one, or until an event."""
    failures: list[SifakaError] = []
    told = anyio.Event()

    async def tell() -> None:
        try:
            await until_stopped(state, run, listen)
        except SifakaError as failure:
            failures.append(failure)
        told.set()
        group.cancel_scope.cancel()

    async def look() -> None:
        key = state.key(run.run_id)
        # A store that fails for good ends the waiting too, by the other branch.
        while await state.jobs.attended(key, in_doubt=True):  # noqa: ASYNC110 - there is no event
            await anyio.sleep(_LOOK_AGAIN)
        with anyio.move_on_after(_LOOK_AGAIN):  # what was stored last is passed on too
            await told.wait()
        group.cancel_scope.cancel()

    async def leave(event: anyio.Event) -> None:
        await event.wait()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(tell)
        group.start_soon(look)
        if until is not None:
            group.start_soon(leave, until)
        await state.jobs.stopped.wait()  # pending requests are answered before this process ends
        group.cancel_scope.cancel()
    if failures:
        raise failures[0]


async def until_stopped(state: AppState, run: Run, listen: Listener) -> None:
    """Pass on what is stored until the run has stopped."""
    after, stopped = run.version, False
    while not stopped:
        async with aclosing(follow_run(state.store, run.run_id, after=after)) as events:
            async for event in events:
                await listen(event)
                if event.run is not None:
                    after, stopped = event.run.version, event.run.status != "running"
                if stopped:
                    break
        if not stopped:  # one that was interrupted is over until the work on it brings something
            await anyio.sleep(_LOOK_AGAIN)


_ORDER: Mapping[Phase, int] = MappingProxyType(
    {"generate": 0, "retrieve": 1, "validate": 2, "critique": 3, "select": 4}
)
_STEPS = 2 * len(_ORDER)
"""Of one round: each phase begins, and has been done."""
_SEARCHES = 6
"""Steps of one iteration of research that are told, and of its section besides."""


class Steps:
    """The progress of a run through the phases of all its iterations.

    Most runs need fewer iterations: the end is then reached in one step.

    Args:
        run: As it is at first.
    """

    def __init__(self, run: Run) -> None:
        self._research = _research(run.config.inquiry)
        self.total = self._research + _STEPS * (most_rounds(run.config) + 1) + 1
        """The number of steps if the run needs all its iterations."""
        self._told = 0
        self._run = run
        self._reached = -1

    def advance(self, event: ChainEvent) -> int | None:
        """The number of steps done after an event; None when it completes no new one."""
        self._run = event.run or self._run
        if isinstance(event.entry, Started | Called):
            return None  # they belong to no phase
        reached = self._place(event)
        if reached <= self._reached:
            return None
        self._reached = reached
        return reached

    def _place(self, event: ChainEvent) -> int:
        if event.phase == "stop":
            return self.total
        if event.phase == "research":  # sections go on at the same time: each step of any counts
            self._told += 1
            return min(self._told, self._research) - 1
        done = event.entry is not None
        begins = event.phase == "generate" and not done and self._run.original is not None
        rounds = self._run.iterations + begins
        step = 2 * _ORDER.get(event.phase, 0) + done
        return min(self._research + rounds * _STEPS + step, self.total - 1)


async def announce(ctx: ToolContext, run: Run) -> None:
    """Report the id of a run as the first progress of the request: it is found by it then."""
    await ctx.report_progress(0, Steps(run).total + 1, f"run {run.run_id}")


def reporter(ctx: ToolContext, run: Run) -> Listener:
    """A listener that reports the phases of a run as progress of the request."""
    steps = Steps(run)

    async def report(event: ChainEvent) -> None:
        reached = steps.advance(event)
        if reached is not None:
            part = "" if event.section is None else f", section {event.section + 1}"
            told = f"{event.phase}{part}: {event.message}"
            await ctx.report_progress(reached + 1, steps.total + 1, told)

    return report


def _research(inquiry: Inquiry | None) -> int:
    """The usual maximum of steps before the first version."""
    if inquiry is None:
        return 0
    sections = 1 if inquiry.mode == "iterative" else inquiry.max_sections
    return _SEARCHES * sections * (inquiry.max_iterations + 1)
