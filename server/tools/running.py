"""Working on a run for as long as a request waits, and what to answer then."""

import anyio
import anyio.to_thread
from mcp_types import CallToolResult, InputRequiredResult

from server.sampling.exchange import Exchange
from server.schemas.runs import ImproveOut
from server.tools.answer import ToolContext, answer, state_of
from server.tools.progress import reporter
from server.view.text import improvement
from sifaka.chain import Chain, RunResult, cancel_run
from sifaka.hosts import Suspended

_PARTING_SECONDS = 5


async def answer_of_run(
    ctx: ToolContext, run_id: str, exchange: Exchange, *, wait_seconds: float
) -> CallToolResult | InputRequiredResult:
    """Go on with a run that is `running`, whoever has begun it; any other is told as it is.

    Raises:
        ThoughtNotFound: There is no such run.
    """
    state = state_of(ctx)
    run = await state.store.load(run_id)
    if run.status != "running":
        return await _told(RunResult(run=run, warnings=state.store.degraded))
    chain = await state.chain_of(run_id, host=exchange.host)
    return await work_on(ctx, chain, run_id, exchange, wait_seconds=wait_seconds)


async def work_on(
    ctx: ToolContext, chain: Chain, run_id: str, exchange: Exchange, *, wait_seconds: float
) -> CallToolResult | InputRequiredResult:
    """The run after some work on it: its result, its state, or what the host has to be asked.

    Whoever asked and leaves before the answer has cancelled the run.
    """
    state = state_of(ctx)
    try:
        result = await state.jobs.run(
            run_id,
            lambda listen: chain.resume(run_id, listen=listen),
            wait_seconds=wait_seconds,
            listener=reporter(ctx),
        )
    except Suspended as waiting:
        return exchange.ask(waiting, run_id=run_id)
    except anyio.get_cancelled_exc_class():
        # If the work had not begun, the record is still open.
        with anyio.move_on_after(_PARTING_SECONDS, shield=True):
            await cancel_run(state.store, run_id)
        raise
    return await _told(
        result or RunResult(run=await state.store.load(run_id), warnings=state.store.degraded)
    )


async def _told(result: RunResult) -> CallToolResult:
    out = await anyio.to_thread.run_sync(ImproveOut.of, result)
    return answer(improvement(out), out)
