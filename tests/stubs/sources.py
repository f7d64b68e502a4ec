"""HTTP servers of the tests' own event loop that answer whatever a test wants, byte by byte."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.stapled import MultiListener
from anyio.streams.tls import TLSListener

from sifaka.errors import SourceError
from sifaka.evidence.sources.http import HttpClient

_NAMES = {200: "OK", 302: "Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a server was asked."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int
    """Which of the connections of the server it came on."""


Reply = bytes | Callable[[ByteStream], Awaitable[None]]
"""What is sent back, with the head; or what sends it, after which the connection is closed."""


@dataclass(slots=True)
class Source:
    """A server that runs."""

    port: int = 0
    host: str = "127.0.0.1"
    encrypted: bool = False
    requests: list[Request] = field(default_factory=list[Request])
    connections: int = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return self.at(self.host)

    def at(self, host: str) -> str:
        """The same under another name."""
        return f"http{'s' * self.encrypted}://{host}:{self.port}"


@asynccontextmanager
async def source(
    answer: Callable[[Request], Reply] | Sequence[Reply],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    encrypted: SSLContext | None = None,
) -> AsyncGenerator[Source]:
    """A server on a port of the loopback.

    Args:
        answer: What is answered to a request; of a list one after the other, the last one again.
        host: An address of the loopback.
        port: A free one when 0.
        encrypted: The server's side of TLS.
    """
    listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
    found = Source(_port_of(listener), host, encrypted is not None)
    replies = None if callable(answer) else iter([*answer[:-1]])

    def reply_to(request: Request) -> Reply:
        if callable(answer):
            return answer(request)
        assert replies is not None
        return next(replies, answer[-1])

    async def serve(stream: ByteStream) -> None:
        found.connections += 1
        connection = found.connections
        async with stream:
            with suppress(anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError):
                buffered = BufferedByteReceiveStream(stream)
                while True:
                    request = await _request_of(buffered, connection)
                    found.requests.append(request)
                    reply = reply_to(request)
                    if not isinstance(reply, bytes):
                        await reply(stream)
                        return
                    await stream.send(reply)

    served: Any = listener
    if encrypted is not None:
        served = TLSListener(listener, encrypted, standard_compatible=False)
    async with served, anyio.create_task_group() as group:
        group.start_soon(served.serve, serve)
        try:
            yield found
        finally:
            group.cancel_scope.cancel()


def reply(body: bytes | str = b"", *, status: int = 200, **headers: str) -> bytes:
    """A whole answer; `content_type` and others are its headers."""
    content = body.encode() if isinstance(body, str) else body
    told = {"content-length": str(len(content)), **headers}
    lines = [f"HTTP/1.1 {status} {_NAMES.get(status, 'Told')}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in told.items()]
    return "\r\n".join([*lines, "", ""]).encode() + content


def json_reply(data: Any, *, status: int = 200, **headers: str) -> bytes:
    """A whole answer of JSON."""
    return reply(json.dumps(data), status=status, content_type="application/json", **headers)


def redirect(to: str, status: int = 302) -> bytes:
    """An answer that leads elsewhere."""
    return reply(status=status, location=to)


async def never(_: ByteStream) -> None:
    """A reply that does not come."""
    await anyio.sleep_forever()


async def hang_up(_: ByteStream) -> None:
    """A connection that ends without a reply."""


def _port_of(listener: MultiListener[SocketStream]) -> int:
    return int(listener.extra_attributes[SocketAttribute.local_port]())


async def _request_of(stream: BufferedByteReceiveStream, connection: int) -> Request:
    head = (await stream.receive_until(b"\r\n\r\n", 100_000)).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await stream.receive_exactly(int(headers.get("content-length", "0")))
    return Request(method=method, target=target, headers=headers, body=body, connection=connection)


async def answered(
    client: HttpClient, path: str = "", params: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """The answer to one request of a client, which is closed after it."""
    async with aclosing(client):
        return await client.ask(path, params, **options)


async def refusal(
    client: HttpClient, path: str = "", params: Mapping[str, Any] | None = None
) -> SourceError:
    """The error of one request, in one line, with a hint."""
    with pytest.raises(SourceError) as caught:
        await answered(client, path, params)
    assert caught.value.adapter == "wiki"
    assert "\n" not in str(caught.value)
    assert caught.value.suggestion
    return caught.value
