"""The commands that run until they are stopped.

`sifaka serve` offers the tools over MCP, `sifaka worker` works on queued runs, and `sifaka lsp`
serves an editor.
"""

import sys

import anyio

from sifaka.errors import ConfigurationError
from sifaka.extras import install, installed, require
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.process import interruption_ends_the_process, say, standard_input
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.garbage_collection import collect_less, loading
from sifaka_mcp.settings.http import MAX_PORT
from sifaka_mcp.telemetry import send_spans

_MOST = 10_000


@opt.command(
    opt.argument("--transport", choices=["stdio", "http"], default="stdio"),
    opt.argument("--host", default="127.0.0.1", help="for http"),
    opt.argument(
        "--port",
        type=opt.whole_number(0, MAX_PORT),
        default=8000,
        help="for http; 0 takes a free one",
    ),
    opt.argument("--toolsets", help="comma-separated: refine, recall"),
    opt.argument(
        "--read-only",
        action="store_true",
        default=None,
        help="only tools that change nothing; the store is never written to",
    ),
    opt.argument("--model", help="what `auto` means: provider:name"),
    opt.argument("--auth-tokens-file", help="for http: who is let in, see `sifaka token`"),
    opt.argument(
        "--allow-anonymous",
        action="store_true",
        default=None,
        help="for http: accept requests without a token from other machines",
    ),
)
def serve(session: Session) -> int:
    """Serve until the client leaves or the process is stopped.

    Raises:
        ConfigurationError: The store's embedding model cannot be used: a server without the search
            that was configured would not be missed until it is needed.
    """
    options, settings = session.options, session.settings
    settings.open_embedder()
    if options.transport == "http":
        require("the server over HTTP", "http", "limits", "prometheus_client")
        from sifaka_mcp.http.serve import serve_http

        send_spans()
        serve_http(settings, options.host, options.port)
    else:
        if standard_input("start it from an MCP host").isatty():
            say("an MCP server, which a host starts and talks to; for people: sifaka --help")
        with loading():
            from sifaka_mcp.app import SifakaServer

            server = SifakaServer(settings)
        send_spans()
        with interruption_ends_the_process(server.ending):
            anyio.run(
                server.run_stdio_async,
                backend_options={"use_uvloop": installed("uvloop")},
            )
    return 0


@opt.command(
    opt.argument(
        "--concurrency",
        type=opt.whole_number(1, _MOST),
        help="runs at the same time; by default as SIFAKA_MAX_RUNS says",
    ),
)
async def worker(session: Session) -> Ending:
    """Work on runs until the process is stopped; what is not done then goes to another worker.

    Raises:
        ConfigurationError: The store is not in Redis, or docket is not installed.
    """
    from sifaka_mcp.lifespan import Lifespan

    settings = session.settings
    at_once = session.options.concurrency or settings.max_runs
    life = Lifespan(settings, warm_up=lambda: None, concurrency=at_once)
    if life.queue_place is None:
        raise ConfigurationError(
            "a worker takes runs from Redis, and SIFAKA_STORE names another store",
            "set SIFAKA_STORE, such as redis://host:6379/0",
        )
    settings.open_embedder()  # or searches would miss what this worker has written
    collect_less()
    async with life(None) as state:
        state.warm_up()
        if state.runs.queue is None or not await state.runs.queue.opened():
            raise ConfigurationError("docket is missing", install("redis"))
        print(f"sifaka: working on {at_once} runs at a time", file=sys.stderr, flush=True)
        await anyio.sleep_forever()
    raise AssertionError("only a signal ends it")


@opt.command()
def lsp(session: Session) -> int:
    """Serve an editor, which starts this command, until it closes standard input."""
    del session  # rules come with each file
    require("the language server", "lsp", "pygls")
    from sifaka_mcp.cli.language_server import language_server

    language_server().start_io()
    return 0
