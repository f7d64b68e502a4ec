"""Waits for a run that another process works on."""

from contextlib import aclosing

import anyio

from sifaka.chain import Listener, follow_run, is_interrupted
from sifaka.errors import SifakaError
from sifaka.record.run import Run
from sifaka_mcp.runs import Job
from sifaka_mcp.state import AppState

_HERE_SECONDS = 0.01
"""Seconds in which a queued run may begin in this process, before it is followed in the store."""
_LOOK_AGAIN = 1.0
"""Seconds between two checks that a run is still worked on."""


async def after_others(state: AppState, run: Run, listen: Listener, *, seconds: float) -> Run:
    """The run when no process works on it any more, or after so many seconds.

    Args:
        state: The tenant's.
        run: As it was last known.
        listen: Is told what happens meanwhile.
        seconds: How long to wait.

    Raises:
        StorageError: The store failed.
    """
    key = state.key(run.run_id)
    run = await as_it_stands(state, run)
    if run.status != "running" or not await state.jobs.attended(key):
        return run
    with anyio.move_on_after(seconds):
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
    state.jobs.withdraw(job)
    if job.begun.is_set():
        await job.answerable.wait()
    else:
        await _follow(state, job.assignment.run, listen)


async def as_it_stands(state: AppState, run: Run) -> Run:
    """A run of the store, which is running also where its record is still to say so.

    The record of one that was interrupted says so only with what the work on it brings next.
    """
    goes_on = is_interrupted(run) and await state.jobs.attended(state.key(run.run_id))
    return run.reopened() if goes_on else run


async def _follow(state: AppState, run: Run, listen: Listener) -> None:
    """Pass on what another process stores, for as long as there is one."""
    failures: list[SifakaError] = []

    async def tell() -> None:
        try:
            await _tell(state, run, listen)
        except SifakaError as failure:
            failures.append(failure)
        group.cancel_scope.cancel()

    async def look() -> None:
        while await state.jobs.attended(state.key(run.run_id)):  # noqa: ASYNC110 - there is no event
            await anyio.sleep(_LOOK_AGAIN)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(tell)
        group.start_soon(look)
        await state.jobs.stopped.wait()  # pending requests are answered before this process ends
        group.cancel_scope.cancel()
    if failures:
        raise failures[0]


async def _tell(state: AppState, run: Run, listen: Listener) -> None:
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
