"""Completions of what can be named: runs, versions, critics."""

from collections.abc import Set as AbstractSet

from mcp.server import MCPServer
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from sifaka.plugins import NO_PLUGINS
from sifaka_mcp.lifespan import Lifespan
from sifaka_mcp.state import AppState

_RECENT = 50
"""Runs that are offered for completion."""
_MOST = 100
"""Values in one answer, as the protocol allows."""


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
        found = [name for name in names if name.startswith(argument.value)]
        return Completion(values=found[:_MOST], total=len(found), has_more=len(found) > _MOST)
