"""`sifaka serve`: the tools over MCP, on stdio or HTTP."""

import argparse

from server.settings import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--transport", choices=["stdio", "http"], default="stdio")
    parser.add_argument("--host", default="127.0.0.1", help="for http")
    parser.add_argument("--port", type=int, default=8000, help="for http; 0 takes a free one")
    parser.add_argument("--toolsets", help="comma-separated: refine, recall")
    parser.add_argument("--model", help="what `auto` means: provider:name")
    parser.set_defaults(run=serve)


def serve(options: argparse.Namespace, settings: Settings) -> int:
    """Serve until the client leaves or the process is told to stop."""
    if options.transport == "http":
        from server.http import serve_http

        serve_http(settings, options.host, options.port)
    else:
        from server.app import SifakaServer

        SifakaServer(settings).run("stdio")
    return 0
