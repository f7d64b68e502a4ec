"""`submit_revision`: the calling agent's version, into the run that waits for it."""

from collections.abc import Awaitable
from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from sifaka.chain import Listener, Parting, Submission
from sifaka_mcp.host.exchange import Exchange
from sifaka_mcp.schemas.arguments import OptionalText
from sifaka_mcp.schemas.research import out_of_submission
from sifaka_mcp.schemas.runs import SubmitOut
from sifaka_mcp.tools.answer import ToolContext, answer, state_of, wire_form
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.follow import after_others, reporter
from sifaka_mcp.tools.work import outcome_of
from sifaka_mcp.ui.apps import SHOWN
from sifaka_mcp.view.text import submission

WAIT_SECONDS = 45.0
"""After which a submission that is still being judged is answered with `running`."""


async def submit_revision(
    run_id: str,
    parent_id: Annotated[str, Field(description="from the brief")],
    ctx: ToolContext,
    text: Annotated[OptionalText, Field(description="the whole new version")] = "",
    accept: Annotated[bool, Field(description="keep the text, decline what is left")] = False,
    reason: Annotated[OptionalText, Field(description="why what is left stays")] = "",
) -> Annotated[CallToolResult, SubmitOut] | InputRequiredResult:
    """See the tool's description."""
    state, exchange = state_of(ctx), Exchange.of(ctx)
    run = await state.store.load(run_id)
    again = exchange.run_id is not None
    if not again:
        run = await after_others(state, run, reporter(ctx, run), seconds=WAIT_SECONDS)
    if run.status == "running" and await state.jobs.attended(state.key(run_id)):
        return await _told(Submission.pending(run, state.store.degraded))
    chain = await state.chain_of(run, host=exchange.host)

    def submit(listen: Listener, parting: Parting) -> Awaitable[Submission]:
        del parting  # the submission stays open, to be submitted again
        return chain.submit(
            run_id,
            parent_id,
            text,
            accept=accept,
            reason=reason or None,
            listen=listen,
            interrupted=again,
        )

    result = await outcome_of(ctx, run, submit, exchange, wait_seconds=WAIT_SECONDS)
    if isinstance(result, InputRequiredResult):
        return result
    if result is None:
        result = Submission.pending(await state.store.load(run_id), state.store.degraded)
    return await _told(result)


async def _told(result: Submission) -> CallToolResult:
    out = await wire_form(out_of_submission, result)
    return answer(submission(out), out)


def tool() -> Tool:
    """The tool."""
    return define(
        submit_revision,
        title="Submit a revision",
        description="Hand in the version a brief asked for, or decline its issues: accepted, or "
        "turned down with the reason, then `done` or the next brief.",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=True,
        ),
        meta=SHOWN,
    )
