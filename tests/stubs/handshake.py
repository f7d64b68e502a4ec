"""A client of the handshake era over HTTP that says each message by hand."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2

from sifaka_mcp.http.application import METRICS
from tests.stubs.served import bearer

TOKEN = "token of 7"
MODEL = "openai-chat:stub"
_RULE = {"type": "content", "required": ["refund"]}
ARGUMENTS: dict[str, Any] = {"text": "A text.", "validators": [_RULE], "model": MODEL}
"""Of a call that asks the model for a version."""
_HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
_MODERN = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "get_thought_history",
}
_META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Caller:
    """One client.

    Args:
        url: The server.
        http: Sends what all its requests have.
    """

    def __init__(self, url: str, http: httpx2.AsyncClient) -> None:
        self.url = url
        self.http = http
        self.answers: dict[object, str] = {}
        """By the numbers of the requests."""

    async def post(
        self, method: str, number: object = None, params: dict[str, Any] | None = None
    ) -> httpx2.Response:
        """Send a request, or without a number a notification."""
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if number is not None:
            body["id"] = number
        return await self.http.post(self.url, json=body)

    async def open(self) -> str:
        """Open a session; its id."""
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        self.http.headers.pop("mcp-session-id", None)
        opened = await self.post("initialize", 0, params)
        assert opened.status_code == 200, opened.text
        self.http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        await self.post("notifications/initialized")
        return opened.headers["mcp-session-id"]

    async def call(self, tool: str, number: object, **more: Any) -> None:
        """Call a tool, and keep the answer."""
        answer = await self.post("tools/call", number, {"name": tool, **more})
        self.answers[number] = answer.text

    async def improve(self, number: object = 7, token: object = TOKEN, **meta: Any) -> None:
        """Have a text improved, and keep the answer."""
        told = {"progressToken": token, **meta}
        await self.call("improve_text", number, arguments=ARGUMENTS, _meta=told)

    async def cancel(self, number: object, **params: Any) -> None:
        """Send word that a request is cancelled."""
        answer = await self.post("notifications/cancelled", params={"requestId": number, **params})
        assert answer.status_code == 202

    async def statuses(self) -> list[str]:
        """How the tenant's runs are, in the era without sessions."""
        params = {"name": "get_thought_history", "arguments": {}, "_meta": _META}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await self.http.post(self.url, json=body, headers=_MODERN)
        (line,) = [line for line in answer.text.splitlines() if "structuredContent" in line]
        runs = json.loads(line.removeprefix("data: "))["result"]["structuredContent"]["runs"]
        return [run["status"] for run in runs]

    async def until(self, line: str) -> None:
        """Return when the server's metrics have a line."""
        with anyio.fail_after(30):
            numbers = ""
            while line not in numbers.splitlines():
                numbers = (await self.http.get(self.url.replace("/mcp", METRICS))).text


@asynccontextmanager
async def caller(
    url: str, token: str | None = None, *, in_session: bool = False, name: str = "test/1"
) -> AsyncGenerator[Caller]:
    """A client, with a session if it is to have one."""
    told = _HEADERS | ({} if token is None else bearer(token)) | {"user-agent": name}
    async with httpx2.AsyncClient(headers=told, timeout=30) as http:
        made = Caller(url, http)
        if in_session:
            await made.open()
        yield made
