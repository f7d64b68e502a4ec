"""`improve_text`: a text, better, or what is needed to make it so."""

from typing import Annotated

import anyio
import anyio.to_thread
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from server.schemas.arguments import BudgetLimits, CriticList, OptionalText
from server.schemas.runs import ImproveOut
from server.tools.answer import ToolContext, answer, state_of
from server.tools.definition import define
from server.tools.progress import reporter
from server.view.text import improvement
from sifaka.chain import RunResult, cancel_run
from sifaka.presets import Effort
from sifaka.validators import ValidatorSpec

_PARTING_SECONDS = 5


async def improve_text(
    ctx: ToolContext,
    text: OptionalText = "",
    prompt: Annotated[
        OptionalText, Field(description="the task; alone, the text is written from it")
    ] = "",
    validators: Annotated[
        list[ValidatorSpec] | None,
        Field(description="what the text must pass; `required`: false makes one advice"),
    ] = None,
    critics: CriticList = None,
    effort: Effort = "standard",
    max_iterations: Annotated[int | None, Field(ge=0, le=50)] = None,
    budget: BudgetLimits = None,
    model: Annotated[
        str,
        Field(description="auto; editor: safe edits only; caller: you write; provider:name writes"),
    ] = "auto",
    tags: Annotated[list[str] | None, Field(description="to find the run by")] = None,
    remember: Annotated[
        int, Field(ge=0, le=20, description="past runs whose lessons help the writer")
    ] = 0,
    wait_seconds: Annotated[float, Field(ge=0, le=3600, description="then answers `running`")] = 45,
) -> Annotated[CallToolResult, ImproveOut]:
    """See the tool's description."""
    state = state_of(ctx)
    chain = await state.chain(
        model=model,
        validators=validators or (),
        critics=critics,
        effort=effort,
        max_iterations=max_iterations,
        budget=budget,
        tags=tags or (),
        remember=remember,
    )
    run = await chain.start(prompt, text=text)
    try:
        result = await state.jobs.run(
            run.run_id,
            lambda listen: chain.resume(run.run_id, listen=listen),
            wait_seconds=wait_seconds,
            listener=reporter(ctx),
        )
    except anyio.get_cancelled_exc_class():
        # Whoever asked has left; if the work had not begun, the record is still open.
        with anyio.move_on_after(_PARTING_SECONDS, shield=True):
            await cancel_run(state.store, run.run_id)
        raise
    result = result or RunResult(
        run=await state.store.load(run.run_id), warnings=state.store.degraded
    )
    out = await anyio.to_thread.run_sync(ImproveOut.of, result)
    return answer(improvement(out), out)


def tool() -> Tool:
    """The tool."""
    return define(
        improve_text,
        title="Improve a text",
        description="Improve a text (or write one) until it passes the validators and satisfies "
        "the critics. Never returns anything worse than the input. `done`: use `text`. "
        "`needs_revision`: write the next version by `brief` and call submit_revision. `running`: "
        "ask get_thought_history later.",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=False,
            open_world_hint=True,
        ),
    )
