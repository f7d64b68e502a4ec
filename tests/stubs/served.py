"""Our HTTP server in a thread of this process, with clients that bring tokens."""

import socket
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sifaka_mcp.auth.tokens_file import Grant, add_grant, digest_of, new_token
from sifaka_mcp.http.serve import http_server
from sifaka_mcp.settings import Settings
from tests.stubs.servers import Era


@contextmanager
def served(home: Path, **settings: Any) -> Generator[str]:
    """A server on a free port of the loopback; the URL of its `/mcp`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        usual = {"home": home, "store": "memory:", "embedding_model": None}
        told = Settings.model_validate(usual | settings)
        with in_thread(http_server(told, url), listener):
            yield url


@contextmanager
def in_thread(server: uvicorn.Server, listener: socket.socket) -> Generator[None]:
    """Within it a server answers on a socket."""
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=100)


def grant_token(file: Path, tenant: str, **more: Any) -> str:
    """A new token that the file lets in."""
    token = new_token()
    add_grant(file, Grant(tenant=tenant, digest=digest_of(token), **more))
    return token


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@asynccontextmanager
async def client_of(
    url: str, token: str | None, era: Era = "auto", **headers: str
) -> AsyncGenerator[Client]:
    """A real client that sends a token with every request."""
    sent = headers | (bearer(token) if token is not None else {})
    async with httpx2.AsyncClient(headers=sent, timeout=30) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=era) as client:
            yield client


def asking(method: str = "ping", **params: Any) -> dict[str, Any]:
    """What `httpx2.AsyncClient.post` needs for a request of the handshake era."""
    return {
        "json": {"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
        "headers": {"accept": "application/json, text/event-stream"},
    }


def pinging(token: str | None = None, **fields: str) -> dict[str, Any]:
    """The same for a ping with a token and these fields, `x_y` for `x-y`."""
    ping = asking()
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return ping | {"headers": ping["headers"] | (bearer(token) if token else {}) | named}
