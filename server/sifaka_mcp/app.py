"""The MCP server, put together, with its instructions to a model."""

import threading
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from mcp.server import MCPServer
from mcp.server.apps import EXTENSION_ID, Apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Annotations,
    CallToolResult,
    GetPromptResult,
    Icon,
    InputRequiredResult,
    Resource,
)
from mcp_types import Tool as ListedTool

from sifaka._internal.event_loop_turns import turn
from sifaka._internal.naming import did_you_mean
from sifaka.errors import StorageError
from sifaka.plugins import Plugins
from sifaka.record.run import RunSummary
from sifaka_mcp.auth.scopes import refusal, share_of_request
from sifaka_mcp.failures import prompt_errors, request_errors, resource_errors
from sifaka_mcp.host.sampling import LIFETIME, sealing
from sifaka_mcp.host.session import add_log_messages, connection_of
from sifaka_mcp.icon import ICON, SIZE
from sifaka_mcp.lifespan import Lifespan
from sifaka_mcp.notify.cancel import Cancellations
from sifaka_mcp.notify.subscriptions import Subscriptions
from sifaka_mcp.prompts import add_completions
from sifaka_mcp.safe_text import flat
from sifaka_mcp.settings import Settings
from sifaka_mcp.state import AppState
from sifaka_mcp.stdio import serve_stdio
from sifaka_mcp.tasks import TasksExtension
from sifaka_mcp.tools import TOOLS, listed_tools, tool_named, tools
from sifaka_mcp.ui.apps import CHOICE, hide_choice

if TYPE_CHECKING:
    from sifaka_mcp.auth.access import Access

_ADVICE: tuple[tuple[str, str], ...] = (
    (
        "improve_text",
        "Use improve_text when a text has to meet requirements (length, terms, JSON schema, format)"
        " or to\n  be free of mistakes before it is shown or sent. Every hard requirement is one of"
        " `validators`.",
    ),
    (
        "research",
        "Use research for a question that is to be answered from sources: it writes a report that"
        " cites them,\n  or gathers the evidence for you to write it from.",
    ),
    (
        "submit_revision",
        "When it answers `needs_revision`, you are the writer: follow `brief`, then call"
        " submit_revision\n  with the text or with edits of it; repeat until `done`. The best"
        " version is kept: a failed\n  try costs nothing. Decline what is right as it is, with"
        " `accept` or a `reason`.\n  `passed`: nothing is known to be wrong; `checked` says what"
        " was not looked at.",
    ),
    ("validate_text", "Use validate_text for a quick check; it changes nothing."),
    ("critique_text", "Use critique_text to find weak places; it changes nothing."),
    (
        "verify_evidence",
        "Use verify_evidence to check claims of fact against sources before they are relied on;"
        " it changes nothing.",
    ),
    (
        "search_evidence",
        "Use search_evidence to find documents for a question, each judged with quotes; it changes"
        " nothing.",
    ),
    (
        "resume_run",
        "A run that is `running` goes on by itself: ask for it with resume_run.",
    ),
    (
        "get_thought_history",
        "Use get_thought_history for what happened in a run, or to find past texts.",
    ),
)
"""The tools in the order in which a model meets them, each with when to use it."""
RECENT_RUNS = 10
"""Runs that are listed as resources."""
_TITLE = 60
"""Characters of a run's text that are its title in a list."""
_HANDSHAKE = frozenset({"initialize", "notifications/initialized", "server/discover"})
"""Messages after which a client asks for the tools, which the warm-up would delay."""


class SifakaServer(MCPServer[Any]):
    """The MCP server of Sifaka: it answers `initialize` first and builds what it offers after that.

    What its tools, resources and prompts import takes longer than a server to start.

    Args:
        settings: The settings of the process.
        access: Identifies callers; None for the person who has started the server.
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
        choice = {CHOICE} if "submit_revision" in settings.tools else set[str]()
        self._offered = {*settings.tools, *choice}
        self._importing = threading.Lock()
        self._registered = False
        self._life = lifespan = Lifespan(settings, warm_up=self.load, host_seconds=host_seconds)
        super().__init__(
            "sifaka",
            title="Sifaka",
            description="Check, criticise and improve texts in a bounded loop.",
            icons=[Icon(src=ICON, mime_type="image/png", sizes=[SIZE])],
            instructions=instructions(settings.tools),
            version=version("sifaka-mcp"),
            lifespan=lifespan,
            log_level=settings.log_level,
            request_state_security=sealing(settings, host_seconds),
            middleware=[Cancellations(), self._answer_request],
            auth=access and access.settings,
            token_verifier=access and access.verifier,
            extensions=[
                Apps(),
                *([TasksExtension()] if TasksExtension.TOOLS & settings.tools else []),
            ],
        )
        add_completions(self, lifespan, settings.tools)
        add_log_messages(self._lowlevel_server)
        self._listening = Subscriptions()
        self._listening.serve(self._lowlevel_server)

    @property
    def state(self) -> AppState | None:
        """The state of the server while it runs."""
        return self._life.state

    async def list_resources(self) -> list[Resource]:
        """The catalogues, and the runs of the tenant that were worked on last."""
        listed = await super().list_resources()
        if self.state is not None:
            with suppress(StorageError):  # what does not need the store is listed without it
                page = await self.state.of_request().store.recent(limit=RECENT_RUNS)
                listed += [_as_resource(run) for run in page.runs]
        return listed

    def load(self) -> None:
        """Import everything that is not imported yet, from any thread."""
        with self._importing:
            tools(self._offered)
        self._register_rest()

    def _register_rest(self) -> None:
        with self._importing:
            if not self._registered:
                self.register()
                self._registered = True

    async def _answer_request(
        self, ctx: ServerRequestContext[AppState, Any], call_next: CallNext
    ) -> HandlerResult:
        """Answer a request with its tenant's share of the processors and of the money.

        The words of an unexpected error are not sent.
        """
        with request_errors(ctx.method):
            await turn()
            if ctx.method.startswith(("resources/", "prompts/")):
                self._register_rest()
            with share_of_request(ctx.lifespan_context):
                refused = refusal(ctx)
                result = await call_next(ctx) if refused is None else refused
            if ctx.method not in _HANDSHAKE:
                ctx.lifespan_context.warm_up()
            _correct_result(ctx, cast("dict[str, Any]", result))
            return result

    async def list_tools(self) -> list[ListedTool]:
        """The tools as a client sees them, without the code that answers their calls."""
        return listed_tools(self._offered)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """See `MCPServer`."""
        if name not in self._offered:
            offered = [each for each in TOOLS if each in self._offered]
            raise _unknown_error("tool", name, offered, self._settings.why_not_offered(name))
        with self._importing:
            tool = tool_named(name)
        return await tool.call(arguments, context or Context(mcp_server=self))

    async def read_resource(
        self, uri: Any, context: Context[Any, Any] | None = None
    ) -> Iterable[Any] | InputRequiredResult:
        """See `MCPServer`."""
        with resource_errors():
            return await super().read_resource(uri, context)

    async def run_stdio_async(self) -> None:
        """See `MCPServer`."""
        await serve_stdio(self._lowlevel_server, ending=self.ending)

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """See `MCPServer`."""
        prompts = [prompt.name for prompt in await super().list_prompts()]
        if name not in prompts:
            raise _unknown_error("prompt", name, prompts)
        with prompt_errors():
            return await super().get_prompt(name, arguments, context)

    def ending(self) -> None:
        """Is called when the process is about to end, perhaps from a signal handler."""
        if self.state is not None:
            self.state.runs.stop()
        self._listening.end()

    def register(self) -> None:
        """Register the resources and prompts."""
        from sifaka_mcp.prompts import add_prompts
        from sifaka_mcp.resources import add_resources

        add_resources(self, Plugins(self._settings.plugins))
        add_prompts(self, self._settings.tools)


def _unknown_error(what: str, name: str, names: Iterable[str], reason: str = "") -> MCPError:
    reason = reason or did_you_mean(name, names)
    return MCPError(code=INVALID_PARAMS, message=f"Unknown {what}: {name[:80]}; {reason}")


def instructions(tools: AbstractSet[str]) -> str:
    """The instructions of a server that offers these tools, and no others."""
    if "improve_text" in tools:
        what = "Sifaka checks, criticises and improves texts, and remembers every version."
    elif "research" in tools:
        what = "Sifaka answers questions from sources, and remembers every version of its reports."
    elif tools == {"get_thought_history"}:
        what = "Sifaka remembers every version of the texts that were improved with it."
    elif tools == {"verify_evidence", "search_evidence"}:
        what = "Sifaka holds the claims of texts against sources; this server stores nothing."
    else:
        what = "Sifaka checks and criticises texts; this server changes and stores nothing."
    return "\n".join([what, *(f"- {advice}" for name, advice in _ADVICE if name in tools)])


def _as_resource(run: RunSummary) -> Resource:
    return Resource(
        name=run.run_id,
        title=flat(run.excerpt)[:_TITLE] or run.run_id,
        uri=f"run://{run.run_id}",
        description=f"A run: {run.status}, versions: {run.iterations + 1}",
        mime_type="application/json",
        annotations=Annotations(last_modified=run.updated_at.isoformat()),
    )


def _correct_result(ctx: ServerRequestContext[AppState, Any], result: dict[str, Any]) -> None:
    """Correct what the SDK declares of every server.

    No list changes here, subscribing needs a way back to the client, and hosts of the handshake era
    show no page of a server that does not name the extension for it.
    """
    if ctx.method == "tools/list":
        hide_choice(ctx, result)
    elif ctx.method == "server/discover":
        for kind in ("tools", "prompts", "resources"):
            result["capabilities"][kind]["listChanged"] = False
    elif ctx.method == "initialize":
        capabilities = result["capabilities"]
        capabilities["extensions"] = {EXTENSION_ID: {}, **(capabilities.get("extensions") or {})}
        if not connection_of(ctx.session).has_standalone_channel:
            capabilities["resources"]["subscribe"] = False
