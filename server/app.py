"""The MCP server, put together."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.tools import Tool

from server.auth.scopes import refuse_writing
from server.completions import add_completions
from server.deferred import DeferredServer
from server.failures import keep_bugs
from server.instructions import instructions
from server.lifespan import Lifespan
from server.sampling.sealing import LIFETIME, sealing
from server.settings import Settings
from server.state import AppState
from server.subscriptions.listening import Listening
from server.subscriptions.subscribing import add_subscribing
from server.tasks.extension import TasksExtension, hurry
from sifaka.plugins import Plugins

if TYPE_CHECKING:
    from server.auth.access import Access


class SifakaServer(DeferredServer):
    """The MCP server of Sifaka.

    Args:
        settings: What the process was told.
        access: How to find out who asks; None for whoever has started the server.
        host_seconds: How long answers of a host are waited for between two rounds of a call.
    """

    def __init__(
        self,
        settings: Settings,
        access: "Access | None" = None,
        *,
        host_seconds: float = LIFETIME,
    ) -> None:
        self._settings = settings
        self._life = lifespan = Lifespan(settings, warm_up=self.fill, host_seconds=host_seconds)
        super().__init__(
            "sifaka",
            title="Sifaka",
            description="Check, criticise and improve texts in a bounded loop.",
            instructions=instructions(settings.tools),
            version=version("sifaka-mcp"),
            lifespan=lifespan,
            log_level=settings.log_level,
            request_state_security=sealing(settings, host_seconds),
            middleware=[keep_bugs, _warm_up_after_first_answer, refuse_writing, hurry],
            auth=access and access.settings,
            token_verifier=access and access.verifier,
            extensions=[TasksExtension()] if TasksExtension.TOOLS & settings.tools else [],
        )
        add_completions(self, lifespan, settings.tools)
        add_subscribing(self._lowlevel_server)
        self._listening = Listening()
        self._listening.serve(self._lowlevel_server)

    @property
    def state(self) -> AppState | None:
        """What the server works with, while it runs."""
        return self._life.state

    def ending(self) -> None:
        """See `DeferredServer`."""
        self._life.stop()
        self._listening.end()

    def offer(self) -> list[Tool]:
        """See `DeferredServer`."""
        from server.prompts import add_prompts
        from server.resources import add_resources
        from server.tools import tools

        add_resources(self, Plugins(self._settings.plugins))
        add_prompts(self, self._settings.tools)
        return tools(self._settings.tools)


async def _warm_up_after_first_answer(
    ctx: ServerRequestContext[AppState, Any], call_next: CallNext
) -> HandlerResult:
    result = await call_next(ctx)
    ctx.lifespan_context.warm_up()
    return result
