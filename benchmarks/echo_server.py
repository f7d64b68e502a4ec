"""The reference: a server of the bare SDK that gives back the text it is given.

`python echo_server.py` serves on stdio, `python echo_server.py http` on a free port of the
loopback and says on stderr which.
"""

import sys

from mcp.server import MCPServer
from pydantic import BaseModel

server = MCPServer("echo")


class Echoed(BaseModel):
    """The content of a structured answer."""

    text: str
    words: int


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """The text, as text."""
    return text


@server.tool()
def echo_structured(text: str) -> Echoed:
    """The text, as text and as data."""
    return Echoed(text=text, words=len(text.split()))


def serve_http() -> None:
    """Serve as the SDK does with its defaults, on a free port."""
    import uvicorn

    app = server.streamable_http_app(stateless_http=True)
    config = uvicorn.Config(app, port=0, log_level="warning")
    listener = config.bind_socket()
    listener.listen(config.backlog)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        serve_http()
    else:
        server.run("stdio")
