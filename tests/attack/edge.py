"""Hostile connections at the edge of the server: what each is answered, and what it leaves."""

from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2

from tests.stubs.provider import opinion, provider
from tests.stubs.served import asking, bearer, grant_token
from tests.stubs.servers import http_server

MEMORY = 300
"""Megabytes that the server may take more for the bodies of one caller."""
_MODEL = "openai-chat:stub"


@dataclass
class Edge:
    """What one kind of hostile connection came to."""

    kind: str
    found: str
    held: bool

    def __str__(self) -> str:
        return f"{'held' if self.held else 'FELL'}  {self.kind:34} {self.found}"


async def edges(home: Path) -> AsyncGenerator[Edge]:
    """Try each kind once against a server with tokens."""
    tokens = home / "tokens"
    mallory = grant_token(tokens, "mallory")
    reader = grant_token(tokens, "alice", scopes=("sifaka:read",))
    with provider(lambda _: opinion("accept")) as models:
        settings = {
            "SIFAKA_AUTH_TOKENS_FILE": str(tokens),
            "SIFAKA_MODEL": _MODEL,
            "SIFAKA_LOG_LEVEL": "WARNING",
            "OPENAI_API_KEY": "sk-test-key",
            "OPENAI_BASE_URL": models.url,
        }
        with http_server(home, **settings) as (url, process):
            head = _head(url, mallory)
            before = _megabytes(process.pid)
            answers = await _together(url, 24, head(15_000_000) + b" " * 14_900_000)
            grown = _megabytes(process.pid) - before
            refused = sum(answer.startswith(b"HTTP/1.1 429") for answer in answers)
            found = f"{refused} of 24 refused, {grown} MB more at the most"
            yield Edge("unfinished bodies of 15 MB", found, refused >= 15 and grown <= MEMORY)

            large = head(2).replace(b"\r\n\r\n", b"\r\nx: " + b"a" * 100_000 + b"\r\n\r\n{}")
            (answer,) = await _together(url, 1, large)
            status = answer.split(b"\r\n")[0].decode()
            yield Edge("a head of 100 KB", status, "431" in status)

            told = {host: await _status(url, mallory, host) for host in _FORGED}
            found = ", ".join(f"{host}: {status}" for host, status in told.items())
            yield Edge("forged names", found, set(told.values()) == {421})

            await _spend(url, reader)
            found = f"{len(models.requests)} calls paid"
            yield Edge("a token for reading only", found, not models.requests)

            process.terminate()
            assert process.stderr is not None
            said = await anyio.to_thread.run_sync(process.stderr.read)
            errors = said.count("ERROR") + said.count("Traceback")
            yield Edge("what clients that left are logged as", f"{errors} errors", not errors)


_FORGED = ("localhost:1@evil.example", "localhost:1.evil.example", "evil.example:80")


def _head(url: str, token: str) -> Callable[[int], bytes]:
    def head(size: int) -> bytes:
        fields = bearer(token) | {"host": urlsplit(url).netloc, "content-length": str(size)}
        lines = [f"{name}: {value}" for name, value in fields.items()]
        return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode()

    return head


async def _together(url: str, count: int, sent: bytes) -> list[bytes]:
    """The first bytes of the answers on so many connections; empty where none came in 5 seconds."""
    answers: list[bytes] = []
    place = urlsplit(url)

    async def one() -> None:
        answer = b""
        with anyio.move_on_after(5), suppress(anyio.BrokenResourceError, anyio.EndOfStream):
            async with await anyio.connect_tcp(place.hostname or "", place.port or 0) as connection:
                with suppress(anyio.BrokenResourceError):
                    await connection.send(sent)
                answer = await connection.receive()
        answers.append(answer)

    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(one)
    return answers


async def _status(url: str, token: str, host: str) -> int:
    request = asking()
    async with httpx2.AsyncClient() as http:
        headers = request["headers"] | bearer(token) | {"host": host}
        return (await http.post(url, json=request["json"], headers=headers)).status_code


async def _spend(url: str, token: str) -> None:
    critic = {"type": "self_refine", "model": _MODEL}
    async with httpx2.AsyncClient(timeout=60) as http:
        for more in ({}, {"model": _MODEL}, {"critics": [critic]}):
            arguments = {"text": "It is so.", **more}
            request = asking("tools/call", name="critique_text", arguments=arguments)
            headers = request["headers"] | bearer(token)
            await http.post(url, json=request["json"], headers=headers)


def _megabytes(pid: int) -> int:
    """The most memory that a process has had, on Linux; 0 elsewhere."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return next((int(x.split()[1]) // 1024 for x in lines if x.startswith("VmHWM:")), 0)
