"""Prompts that a person picks in the host, and completions of what can be named."""

from collections.abc import Set as AbstractSet
from typing import Annotated

from mcp.server import MCPServer
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from pydantic import Field

from sifaka.models.prompt import DATA_NOTICE, frame
from sifaka.plugins import NO_PLUGINS
from sifaka_mcp.lifespan import Lifespan
from sifaka_mcp.state import AppState

_RECENT = 50
"""Runs that are offered for completion."""
_MOST = 100
"""Values in one answer, as the protocol allows."""


def add_prompts(server: MCPServer[AppState], tools: AbstractSet[str]) -> None:
    """Register the prompts for which there are tools."""

    def refine(
        text: Annotated[str, Field(description="the text to improve")],
        goal: Annotated[str, Field(description="what it should become")] = "",
    ) -> str:
        task = f" The goal: {goal}" if goal else ""
        return (
            f"Improve the text between the marks with the tool improve_text.{task} Turn what the "
            "goal says about length, terms and format into validators. While the answer is "
            "needs_revision, write the next version by its brief and hand it in with "
            f"submit_revision. At the end show the text and what was changed. {DATA_NOTICE}"
            f"\n\n{frame('text', text)}"
        )

    def review(
        text: Annotated[str, Field(description="the text to review")],
        critic: Annotated[str, Field(description="which critic to ask")] = "lint",
    ) -> str:
        return (
            "Review the text between the marks: call critique_text with critics="
            f"[{critic!r}], weigh its issues, judge the rest by its rubric, and report what "
            "matters most first, each point with the words it is about. Change nothing. "
            f"{DATA_NOTICE}\n\n{frame('text', text)}"
        )

    if tools >= {"improve_text", "submit_revision"}:
        server.prompt(title="Refine a text", description="Improve a text until its rules pass.")(
            refine
        )
    if "critique_text" in tools:
        server.prompt(title="Review a text", description="Find what is wrong with a text.")(review)


def add_completions(
    server: MCPServer[AppState], lifespan: Lifespan, tools: AbstractSet[str]
) -> None:
    """Register the completions of run and thought ids, and of critics' names where one is asked."""

    @server.completion()
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        match argument.name:
            case "critic" if "critique_text" in tools:
                from sifaka.critics import CRITICS

                plugins = lifespan.state.plugins if lifespan.state else NO_PLUGINS
                names = [*CRITICS, *plugins.offered("critics", CRITICS)]
            case "run_id" | "thought_id" if lifespan.state is not None:
                page = await lifespan.state.of_request().store.recent(limit=_RECENT)
                names = [run.run_id for run in page.runs]
                if argument.name == "thought_id":
                    names = [
                        f"{run.run_id}.{n}" for run in page.runs for n in range(run.iterations + 1)
                    ]
            case _:
                return None
        matches = [name for name in names if name.startswith(argument.value)]
        return Completion(values=matches[:_MOST], total=len(matches), has_more=len(matches) > _MOST)
