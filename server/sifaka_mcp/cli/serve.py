"""`sifaka serve`: the tools over MCP, on stdio or HTTP."""

import argparse
import sys
from typing import TextIO

import anyio

from sifaka.errors import ConfigurationError
from sifaka.extras import installed, require
from sifaka_mcp.cli.options import whole_number
from sifaka_mcp.cli.signals import interruption_ends_the_process
from sifaka_mcp.garbage import loading
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.http import MAX_PORT
from sifaka_mcp.telemetry import exported


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--transport", choices=["stdio", "http"], default="stdio")
    parser.add_argument("--host", default="127.0.0.1", help="for http")
    parser.add_argument(
        "--port", type=whole_number(0, MAX_PORT), default=8000, help="for http; 0 takes a free one"
    )
    parser.add_argument("--toolsets", help="comma-separated: refine, recall")
    parser.add_argument(
        "--read-only",
        action="store_true",
        default=None,
        help="only tools that change nothing; the store is never written to",
    )
    parser.add_argument("--model", help="what `auto` means: provider:name")
    parser.add_argument("--auth-tokens-file", help="for http: who is let in, see `sifaka token`")
    parser.add_argument(
        "--allow-anonymous",
        action="store_true",
        default=None,
        help="for http: accept requests without a token from other machines",
    )
    parser.set_defaults(run=serve)


def serve(options: argparse.Namespace, settings: Settings) -> int:
    """Serve until the client leaves or the process is told to stop.

    Raises:
        ConfigurationError: The store's embedding model cannot be used: a server without the search
            that was configured would not be missed until it is needed.
    """
    settings.open_embedder()
    if options.transport == "http":
        require("the server over HTTP", "http", "httptools", "limits", "prometheus_client")
        from sifaka_mcp.http.serve import serve_http

        with exported():
            serve_http(settings, options.host, options.port)
    else:
        stdin: TextIO | None = sys.stdin
        if stdin is None:
            raise ConfigurationError("standard input is closed", "start it from an MCP host")
        with loading():
            from sifaka_mcp.app import SifakaServer

            server = SifakaServer(settings)
        with exported(), interruption_ends_the_process(server.ending):
            anyio.run(
                server.run_stdio_async,
                backend_options={"use_uvloop": installed("uvloop")},
            )
    return 0
