"""The MCP server, put together."""

from importlib.metadata import version
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.tools import Tool

from server.completions import add_completions
from server.deferred import DeferredServer
from server.lifespan import AppState, Lifespan
from server.sampling.sealing import sealing
from server.settings import Settings

INSTRUCTIONS = """\
Sifaka checks, criticises and improves texts, and remembers every version.
- Use improve_text when a text has to meet requirements (length, terms, JSON schema, format) or to
  be free of mistakes before it is shown or sent. Every hard requirement is one of `validators`.
- When it answers `needs_revision`, you are the writer: follow `brief`, then call submit_revision
  with the whole text; repeat until `done`. The best version is kept: a failed try costs nothing.
- Use validate_text for a quick check, critique_text to find weak places; they change nothing.
- A run that is `running` goes on by itself: ask for it with resume_run.
- Use get_thought_history for what happened in a run, or to find past texts."""


class SifakaServer(DeferredServer):
    """The MCP server of Sifaka."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        lifespan = Lifespan(settings, warm_up=self.fill)
        super().__init__(
            "sifaka",
            title="Sifaka",
            description="Check, criticise and improve texts in a bounded loop.",
            instructions=INSTRUCTIONS,
            version=version("sifaka-mcp"),
            lifespan=lifespan,
            log_level=settings.log_level,
            request_state_security=sealing(settings),
            middleware=[_warm_up_after_first_answer],
        )
        add_completions(self, lifespan)

    def offer(self) -> list[Tool]:
        """See `DeferredServer`."""
        from server.prompts import add_prompts
        from server.resources import add_resources
        from server.tools import tools

        add_resources(self)
        add_prompts(self)
        return tools(self._settings.tools)


async def _warm_up_after_first_answer(
    ctx: ServerRequestContext[AppState, Any], call_next: CallNext
) -> HandlerResult:
    result = await call_next(ctx)
    ctx.lifespan_context.warm_up()
    return result
