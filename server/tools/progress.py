"""Working on a run while its request waits, and saying what is being done."""

import anyio

from server.tools.answer import ToolContext, state_of
from sifaka.chain import Chain, RunResult, cancel_run
from sifaka.events import ChainEvent

_PARTING_SECONDS = 5


async def work_on(ctx: ToolContext, chain: Chain, run_id: str, wait_seconds: float) -> RunResult:
    """The run after at most `wait_seconds` of work; it goes on if that was not enough."""
    state = state_of(ctx)
    done = 0

    async def report(event: ChainEvent) -> None:
        nonlocal done
        done += 1
        await ctx.report_progress(done, message=f"{event.phase}: {event.message}")

    try:
        result = await state.jobs.run(
            run_id,
            lambda listen: chain.resume(run_id, listen=listen),
            wait_seconds=wait_seconds,
            listener=report,
        )
    except anyio.get_cancelled_exc_class():
        # Whoever asked has left; the work may not have begun, so the record is ours to close.
        with anyio.move_on_after(_PARTING_SECONDS, shield=True):
            await cancel_run(state.store, run_id)
        raise
    return result or RunResult(run=await state.store.load(run_id))
