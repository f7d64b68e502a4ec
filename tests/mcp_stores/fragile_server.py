"""An MCP server that can be made to fail, for tests of sessions."""

import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("fragile", log_level="ERROR")


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
def process_id() -> int:
    return os.getpid()


@server.tool()
def die() -> str:
    os._exit(3)


@server.tool()
def die_once(file: str) -> str:
    """Ends the process, unless the file says that it has done so before."""
    if not Path(file).exists():
        Path(file).touch()
        os._exit(3)
    return "survived"


@server.tool()
def fail() -> str:
    raise ValueError("two\nlines of --password=hunter2")


if __name__ == "__main__":
    sys.stderr.write("fragile: ready\n")
    sys.stderr.flush()
    server.run(transport="stdio")
