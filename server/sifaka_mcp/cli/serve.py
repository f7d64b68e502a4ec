"""`sifaka serve`: the tools over MCP, on stdio or HTTP."""

import sys
from typing import TextIO

import anyio

from sifaka.errors import ConfigurationError
from sifaka.extras import installed, require
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import say
from sifaka_mcp.cli.session import Session
from sifaka_mcp.cli.signals import interruption_ends_the_process
from sifaka_mcp.garbage_collection import loading
from sifaka_mcp.settings.http import MAX_PORT
from sifaka_mcp.telemetry import send_spans

ARGUMENTS = (
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


def run(session: Session) -> int:
    """Serve until the client leaves or the process is told to stop.

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
        stdin: TextIO | None = sys.stdin
        if stdin is None:
            raise ConfigurationError("standard input is closed", "start it from an MCP host")
        if stdin.isatty():
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
