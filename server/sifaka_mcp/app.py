"""The MCP server, put together, with its instructions to a model."""

from collections.abc import Set as AbstractSet
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mcp.server.apps import Apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.tools import Tool
from mcp_types import Annotations, Icon, Resource
from mcp_types import Tool as ListedTool

from sifaka._internal.turns import turn
from sifaka.errors import StorageError
from sifaka.plugins import Plugins
from sifaka.record.run import RunSummary
from sifaka_mcp.auth.scopes import refuse_writing, share_of_request
from sifaka_mcp.deferred import DeferredServer
from sifaka_mcp.failures import keep_bugs
from sifaka_mcp.host.exchange import LIFETIME
from sifaka_mcp.host.log_messages import add_log_messages
from sifaka_mcp.host.sealing import sealing
from sifaka_mcp.icon import ICON, SIZE
from sifaka_mcp.lifespan import Lifespan
from sifaka_mcp.notify.cancel import Cancellations
from sifaka_mcp.notify.listen import Listening
from sifaka_mcp.notify.subscribe import add_subscribing
from sifaka_mcp.prompts import add_completions
from sifaka_mcp.settings import Settings
from sifaka_mcp.state import AppState
from sifaka_mcp.tasks.extension import TasksExtension, hurry
from sifaka_mcp.tools import listed_tools, tools
from sifaka_mcp.ui.apps import CHOICE, declare_apps, hide_choice
from sifaka_mcp.view.lines import flat

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
        "Use verify_evidence to hold claims of fact against sources before they are relied on; it"
        " changes nothing.",
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


class SifakaServer(DeferredServer):
    """The MCP server of Sifaka.

    Args:
        settings: What the process was told.
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
        self._life = lifespan = Lifespan(settings, warm_up=self.fill, host_seconds=host_seconds)
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
            middleware=[
                keep_bugs,
                Cancellations(),
                declare_apps,
                hide_choice,
                _share,
                _warm_up_after_first_answer,
                refuse_writing,
                hurry,
            ],
            auth=access and access.settings,
            token_verifier=access and access.verifier,
            extensions=[
                Apps(),
                *([TasksExtension()] if TasksExtension.TOOLS & settings.tools else []),
            ],
        )
        add_completions(self, lifespan, settings.tools)
        add_subscribing(self._lowlevel_server)
        add_log_messages(self._lowlevel_server)
        self._listening = Listening()
        self._listening.serve(self._lowlevel_server)

    @property
    def state(self) -> AppState | None:
        """The state of the server while it runs."""
        return self._life.state

    async def list_resources(self) -> list[Resource]:
        """The catalogues, and the runs of the tenant that were worked on last."""
        listed = await super().list_resources()
        if self.state is None:
            return listed
        runs: list[Resource] = []
        with suppress(StorageError):  # what does not need the store is listed without it
            page = await self.state.of_request().store.recent(limit=RECENT_RUNS)
            runs = [_as_resource(run) for run in page.runs]
        return [*listed, *runs]

    def ending(self) -> None:
        """See `DeferredServer`."""
        self._life.stop()
        self._listening.end()

    def listed(self) -> list[ListedTool]:
        """See `DeferredServer`."""
        return listed_tools(self._offered)

    def offer(self) -> list[Tool]:
        """See `DeferredServer`."""
        return tools(self._offered)

    @property
    def _offered(self) -> AbstractSet[str]:
        offered = self._settings.tools
        return {*offered, CHOICE} if "submit_revision" in offered else offered

    def register(self) -> None:
        """See `DeferredServer`."""
        from sifaka_mcp.prompts import add_prompts
        from sifaka_mcp.resources import add_resources

        add_resources(self, Plugins(self._settings.plugins))
        add_prompts(self, self._settings.tools)


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
    changed = Annotations(last_modified=run.updated_at.isoformat())
    return Resource(
        name=run.run_id,
        title=flat(run.excerpt)[:_TITLE] or run.run_id,
        uri=f"run://{run.run_id}",
        description=f"A run: {run.status}, versions: {run.iterations + 1}",
        mime_type="application/json",
        annotations=changed,
    )


async def _share(ctx: ServerRequestContext[AppState, Any], call_next: CallNext) -> HandlerResult:
    """Middleware: a tenant has its share of the processors, and of the money."""
    await turn()
    with share_of_request(ctx.lifespan_context):
        return await call_next(ctx)


async def _warm_up_after_first_answer(
    ctx: ServerRequestContext[AppState, Any], call_next: CallNext
) -> HandlerResult:
    result = await call_next(ctx)
    if ctx.method not in _HANDSHAKE:
        ctx.lifespan_context.warm_up()
    return result
