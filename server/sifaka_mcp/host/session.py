"""The private parts of the SDK's session that we need: nothing public leads there."""

from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.session import ServerSession


def connection_of(session: ServerSession) -> Connection:
    """The connection of a session, which outlasts it: sessions are made for each request."""
    return session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - see above


def cancel_requested(session: ServerSession) -> anyio.Event:
    """Set when the client of a request has sent word to cancel it, and has not just left."""
    outbound: Any = session._request_outbound  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - see above
    return outbound.cancel_requested
