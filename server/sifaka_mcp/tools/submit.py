"""`submit_revision`: the calling agent's version, into the run that waits for it."""

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Annotated

import anyio
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import Field

from sifaka.chain import CancelEntry, Listener, Submission
from sifaka.errors import ConfigurationError, StaleRevision
from sifaka.models import CALLER
from sifaka.record.diff import Edit, edited
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka_mcp.schemas.arguments import EditList, FindReplace, HowReturned, RunId
from sifaka_mcp.schemas.runs import SubmitOut
from sifaka_mcp.tools.answer import ToolContext, answer_with_text
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.source import asked_again, text_of
from sifaka_mcp.tools.work import RunRequest
from sifaka_mcp.ui.apps import SHOWN

WAIT_SECONDS = 45.0
"""After which a submission that is still being judged is answered with `running`."""


@define(
    title="Submit a revision",
    description="Hand in the version a brief asked for: `done`, or what to answer; "
    "`reason` alone answers differences.",
    open_world=True,
    meta=SHOWN,
    one_of=("text", "source", "edits", "accept", "reason"),
)
async def submit_revision(
    run_id: RunId,
    parent_id: Annotated[str, Field(description="`parent_id` of the brief")],
    ctx: ToolContext,
    text: Annotated[str, Field(description="the new version")] = "",
    source: Annotated[str, Field(description="or its URI or path")] = "",
    edits: EditList = None,
    accept: Annotated[bool, Field(description="true keeps the best version as it is")] = False,
    reason: Annotated[
        str, Field(description="why the differences shown are right, or what is left is declined")
    ] = "",
    returns: HowReturned = "auto",
) -> Annotated[CallToolResult, SubmitOut] | InputRequiredResult:
    """See the tool's description."""
    request = RunRequest.of(ctx, WAIT_SECONDS, returns, as_task=False)
    state, exchange = request.state, request.exchange
    run = await state.load(run_id)
    named = await text_of(ctx, text, source)
    if isinstance(named, InputRequiredResult):
        return named
    text = named
    again = exchange.run_id is not None
    parent, revised = _version(run, parent_id), None
    if edits:
        if parent is None:
            raise StaleRevision(parent_id, current_id=run.champion_id or "")
        if text:
            raise ConfigurationError(
                "the revision is given in two ways", "give one of `text` and `edits`"
            )
        revised = _edited_one(run, parent, edits)
        made = [Edit(find=each.find, replace=each.replace) for each in edits]
        text = edited(revised.text, made)
    if not again:
        run = await request.after_others(run)
    before = None if parent is None else parent.text
    if run.status == "running" and await state.runs.attended(state.key(run_id)):
        pending = Submission.pending(run, state.store.degraded)
        return await answer_with_text(pending, returns, before, ctx=ctx)
    chain = await state.chain_of(run, host=exchange.host or exchange.absent)

    def submit(listen: Listener, parting: CancelEntry) -> Awaitable[Submission]:
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

    request = replace(request, until=anyio.current_time() + WAIT_SECONDS)
    result = await request.outcome_of(run, submit)
    if isinstance(result, InputRequiredResult):
        return asked_again(ctx, result)
    if result is None:
        result = Submission.pending(await state.store.load(run_id), state.store.degraded)
    given = (revised or result.handed_in) if result.accepted else None
    known = given.text if given else before
    return await answer_with_text(result, returns, known, ctx=ctx)


def _version(run: Run, thought_id: str) -> Thought | None:
    return next((each for each in run.thoughts if each.id == thought_id), None)


def _edited_one(run: Run, parent: Thought, edits: Sequence[FindReplace]) -> Thought:
    """The version that edits are of: the last one handed in for the parent, or the parent."""
    for each in reversed(run.thoughts):
        handed_in = (each.author, each.parent_id) == (CALLER, parent.id)
        if handed_in and all(each.text.count(edit.find) == 1 for edit in edits):
            return each
    return parent
