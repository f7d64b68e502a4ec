"""A provider on loopback that speaks the OpenAI chat protocol and says what a test wrote down."""

import json
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

PATIENCE = 100.0
"""Seconds until what has to come is given up: a busy machine takes long to start a process."""


class Gate:
    """Where answers wait until they are let through."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._opened = threading.Event()

    def open(self) -> None:
        """Let through what waits, and whatever comes."""
        self._opened.set()

    async def reached(self) -> None:
        """Return when an answer waits here."""
        assert await anyio.to_thread.run_sync(self._asked.wait, PATIENCE), "nobody has asked"

    async def passed(self) -> None:
        """Return when it is open."""
        self._asked.set()
        while not self._opened.is_set():  # noqa: ASYNC110 - it is opened in another thread
            await anyio.sleep(0.01)


@dataclass(frozen=True)
class Reply:
    """One answer of the provider."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    hangs: bool = False
    gate: Gate | None = None
    seconds: float = 0.0
    """How long it takes; for scripts that show how long things take, not for tests."""


def _completion(message: dict[str, Any], finish: str, tokens: tuple[int, int]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        },
    }


def says(text: str | None, *, tokens: tuple[int, int] = (10, 5), gate: Gate | None = None) -> Reply:
    body = _completion({"role": "assistant", "content": text}, "stop", tokens)
    return Reply(body=body, gate=gate)


def calls(tool: str, arguments: object, *, tokens: tuple[int, int] = (10, 5)) -> Reply:
    """A tool call; arguments that are a string are sent as they are."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": text}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return Reply(body=_completion(message, "tool_calls", tokens))


def opinion(verdict: str, **fields: object) -> Reply:
    return calls("answer", {"verdict": verdict, **fields})


def fails(status: int, **headers: str) -> Reply:
    body = {"error": {"message": "sk-secret leaked in a body", "type": "x", "code": None}}
    return Reply(status=status, body=body, headers=headers)


HANGS = Reply(hangs=True)
REFUND: dict[str, Any] = {
    "text": "x",
    "validators": [{"type": "content", "required": ["refund"]}],
    "model": "openai-chat:stub",
    "critics": ["lint"],
}
"""The arguments of `improve_text` for a text that takes one reply with that word."""
Script = Callable[[dict[str, Any]], Reply]
"""What is replied to a request."""


@dataclass
class Provider:
    """What the stub was asked and where it is."""

    url: str
    requests: list[dict[str, Any]]
    _left: threading.Event

    async def deserted(self) -> None:
        """Return when somebody has left without waiting for an answer."""
        assert await anyio.to_thread.run_sync(self._left.wait, PATIENCE), "nobody has left"


class _Server(uvicorn.Server):
    """Ends as soon as it is told to, not at its next tick."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = threading.Event()

    async def main_loop(self) -> None:
        """See `uvicorn.Server`."""
        await self.on_tick(0)
        await anyio.to_thread.run_sync(self.ended.wait)


@contextmanager
def provider(replies: Iterable[Reply] | Script) -> Generator[Provider]:
    """A provider that gives these replies in order, then HTTP 500; or one by a script."""
    script: Iterator[Reply] = iter(()) if callable(replies) else iter(replies)
    requests: list[dict[str, Any]] = []
    left = threading.Event()

    async def complete(request: Request) -> Response:
        requests.append(await request.json())
        reply = replies(requests[-1]) if callable(replies) else next(script, fails(500))
        async with anyio.create_task_group() as group:
            group.start_soon(watch, request, group.cancel_scope)
            if reply.hangs:
                await anyio.sleep_forever()
            await anyio.sleep(reply.seconds)
            if reply.gate is not None:
                await reply.gate.passed()
            group.cancel_scope.cancel()
        return JSONResponse(reply.body, status_code=reply.status, headers=reply.headers)

    async def watch(request: Request, waiting: anyio.CancelScope) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        left.set()
        waiting.cancel()

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=0)
        server = _Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        listener.listen()  # connections queue here until the server accepts them
        thread.start()
        try:
            yield Provider(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", requests, left)
        finally:
            server.ended.set()
            thread.join(timeout=100)


def told_of(served: Provider, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Have servers in this process ask a provider; the environment for those in others."""
    variables = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": served.url}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables | {"SIFAKA_MODEL": "openai-chat:stub"}


@contextmanager
def provided(
    replies: Iterable[Reply] | Script, monkeypatch: pytest.MonkeyPatch
) -> Generator[Provider]:
    """A provider that servers in this process ask."""
    with provider(replies) as served:
        told_of(served, monkeypatch)
        yield served
