"""Working on a run while its request waits, and saying what is being done."""

from server.tools.answer import ToolContext, state_of
from sifaka.chain import Chain, RunResult
from sifaka.events import ChainEvent


async def work_on(ctx: ToolContext, chain: Chain, run_id: str, wait_seconds: float) -> RunResult:
    """The run after at most `wait_seconds` of work; it goes on if that was not enough."""
    state = state_of(ctx)
    done = 0

    async def report(event: ChainEvent) -> None:
        nonlocal done
        done += 1
        await ctx.report_progress(done, message=f"{event.phase}: {event.message}")

    result = await state.jobs.run(
        run_id,
        lambda listen: chain.resume(run_id, listen=listen),
        wait_seconds=wait_seconds,
        listener=report,
    )
    return result or RunResult(run=await state.store.load(run_id))
