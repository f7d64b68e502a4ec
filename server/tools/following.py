"""Waiting for a run that somebody else works on."""

from contextlib import aclosing

import anyio

from server.lifespan import AppState
from sifaka.chain import Listener, follow_run
from sifaka.errors import SifakaError
from sifaka.run import Run

_LOOK_AGAIN = 1.0
"""Seconds between two looks whether anybody works on a run still."""


async def after_others(state: AppState, run: Run, listen: Listener, *, seconds: float) -> Run:
    """The run when nobody works on it any more, or after so many seconds.

    Args:
        state: The tenant's.
        run: As it was last known.
        listen: Is told what happens meanwhile.
        seconds: How long to wait.

    Raises:
        StorageError: The store failed.
    """
    key = state.key(run.run_id)
    if run.status != "running" or not await state.jobs.attended(key):
        return run
    with anyio.move_on_after(seconds):
        if state.jobs.works_on(key):
            await state.jobs.join(key, listen)
        else:
            await _follow(state, run, listen)
    return await state.store.load(run.run_id)


async def _follow(state: AppState, run: Run, listen: Listener) -> None:
    """Pass on what another process stores, for as long as there is one."""
    failures: list[SifakaError] = []

    async def tell() -> None:
        try:
            async with aclosing(follow_run(state.store, run.run_id, after=run.version)) as events:
                async for event in events:
                    await listen(event)
                    if event.run is not None and event.run.status != "running":
                        break
        except SifakaError as failure:
            failures.append(failure)
        group.cancel_scope.cancel()

    async def look() -> None:
        while await state.jobs.attended(state.key(run.run_id)):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(_LOOK_AGAIN)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(tell)
        group.start_soon(look)
        await state.jobs.stopped.wait()  # whoever waits is answered before this process ends
        group.cancel_scope.cancel()
    if failures:
        raise failures[0]
