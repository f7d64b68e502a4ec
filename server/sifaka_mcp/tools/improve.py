"""`improve_text` and `submit_revision`: a text, better, or what is needed to make it so."""

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import anyio
from mcp_types import CallToolResult
from pydantic import Field

from sifaka.chain import CancelEntry, Listener, Submission
from sifaka.chain.configuration import Effort
from sifaka.errors import ConfigurationError, StaleRevision
from sifaka.models import AUTO, CALLER
from sifaka.record.diff import Edit, edited
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought
from sifaka_mcp.host.sampling import InputRequired
from sifaka_mcp.schemas.arguments import (
    BudgetLimits,
    CriticList,
    EditList,
    HowReturned,
    RunId,
    ValidatorList,
    WaitSeconds,
)
from sifaka_mcp.schemas.runs import ImproveOut, SubmitOut
from sifaka_mcp.tools.answer import ToolContext, answer_with_text
from sifaka_mcp.tools.awaited_run import RunRequest
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.named_text import asked_again, lint_rules_of, text_of
from sifaka_mcp.ui.apps import SHOWN

WAIT_SECONDS = 45.0
"""After which a submission that is still being judged is answered with `running`."""


@define(
    title="Improve a text",
    description="Improve or write a text by validators and critics. "
    "`done`: use `text`, tell what is `left`. "
    "`needs_revision`: write the next version by `brief` and call submit_revision. `running`: "
    "call resume_run.",
    idempotent=False,
    open_world=True,
    meta=SHOWN,
    one_of=("text", "source", "prompt"),
)
async def improve_text(
    ctx: ToolContext,
    text: Annotated[str, Field(description="the text to improve")] = "",
    source: Annotated[str, Field(description="or the URI or path of the text")] = "",
    prompt: Annotated[
        str, Field(description="the task in words; without a text, what to write")
    ] = "",
    validators: ValidatorList | None = None,
    critics: CriticList = None,
    effort: Annotated[
        Effort, Field(description="how many versions are tried and how they are judged")
    ] = "standard",
    max_iterations: Annotated[
        int | None, Field(ge=0, le=50, description="or exactly how many versions")
    ] = None,
    budget: BudgetLimits = None,
    model: Annotated[
        str,
        Field(
            description="who writes: auto (what the server has, else you), editor (mechanics "
            "only), caller (you), host (your client's model), provider:name"
        ),
    ] = "auto",
    fixes: Annotated[
        Literal["auto", "none", "safe", "suggested"],
        Field(description="the editor's fixes that are made; auto only proposes them"),
    ] = "auto",
    facts: Annotated[
        Literal["ask", "require", "off"],
        Field(
            description="what becomes of facts that a version changes: ask you, refuse or ignore"
        ),
    ] = "ask",
    tags: Annotated[list[str] | None, Field(description="words to find the run by")] = None,
    remember: Annotated[
        int, Field(ge=0, le=20, description="how many similar past runs to learn from")
    ] = 0,
    wait_seconds: WaitSeconds = 45,
    returns: HowReturned = "auto",
) -> Annotated[CallToolResult, ImproveOut]:
    """See the tool's description."""
    request = RunRequest.of(ctx, wait_seconds, returns)
    state, exchange = request.state, request.exchange
    if exchange.run_id is not None:
        return await request.go_on(exchange.run_id)
    content = await text_of(ctx, text, source)
    writer = state.settings.model if model == AUTO else model
    chain = await state.chain(
        model=model,
        host=exchange.host,
        absent=exchange.absent,
        validators=validators or (),
        critics=critics,
        effort=effort,
        max_iterations=max_iterations,
        budget=budget,
        fixes="none" if fixes == "auto" and writer != EDITOR else fixes,
        facts=facts,
        tags=tags or (),
        remember=remember,
        lint_rules=await lint_rules_of(ctx, source),
    )
    return await request.begin(chain, prompt, text=content)


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
) -> Annotated[CallToolResult, SubmitOut]:
    """See the tool's description."""
    request = RunRequest.of(ctx, WAIT_SECONDS, returns, as_task=False)
    state, exchange = request.state, request.exchange
    run = await state.load(run_id)
    text = await text_of(ctx, text, source)
    again, revised = exchange.run_id is not None, None
    parent = next((each for each in run.thoughts if each.id == parent_id), None)
    if edits:
        if parent is None:
            raise StaleRevision(parent_id, current_id=run.champion_id or "")
        if text:
            raise ConfigurationError(
                "the revision is given in two ways", "give one of `text` and `edits`"
            )
        revised = _find_edited(run, parent, edits)
        text = edited(revised.text, edits)
    if not again:
        run = await request.after_others(run)
    if run.status == "running" and await state.runs.attended(state.key(run_id)):
        pending = Submission.pending(run, state.store.degraded)
        return await answer_with_text(pending, returns, parent, ctx=ctx)
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
    try:
        result = await request.outcome_of(run, submit)
    except InputRequired as asking:
        raise asked_again(ctx, asking) from None
    if result is None:
        result = Submission.pending(await state.store.load(run_id), state.store.degraded)
    known_version = (revised or result.handed_in or parent) if result.accepted else parent
    return await answer_with_text(result, returns, known_version, ctx=ctx)


def _find_edited(run: Run, parent: Thought, edits: Sequence[Edit]) -> Thought:
    """The version that edits are of: the last one handed in for the parent, or the parent."""
    for each in reversed(run.thoughts):
        handed_in = (each.author, each.parent_id) == (CALLER, parent.id)
        if handed_in and all(each.text.count(edit.find) == 1 for edit in edits):
            return each
    return parent
