"""Hostile connections at the edge of the server: what each is answered, and what it leaves."""

from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2

from tests.attack.table import Row, megabytes
from tests.stubs.provider import opinion, provider
from tests.stubs.served import asking, bearer, grant_token
from tests.stubs.servers import http_server

MEMORY = 300
"""Megabytes that the server may take more for the bodies of one caller."""
REFUSED = 20
"""Of 24 bodies of 15 MB, which one caller may not have unfinished beside 4 others."""
_MODEL = "openai-chat:stub"
_PATIENCE = 60.0
"""Seconds until an answer is given up, on a busy machine too."""


async def edges(home: Path) -> AsyncGenerator[Row]:
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
            before = megabytes(process.pid)
            answers = await _together(url, 24, head(15_000_000) + b" " * 14_900_000, wanted=REFUSED)
            grown = megabytes(process.pid) - before
            refused = sum(answer.startswith(b"HTTP/1.1 429") for answer in answers)
            yield Row(
                fired="24 unfinished bodies of 15 MB by one caller",
                must=f"{REFUSED} refused, at most {MEMORY} MB more memory",
                measured=f"{refused} refused, {grown} MB",
                held=refused >= REFUSED and grown <= MEMORY,
            )

            large = head(2).replace(b"\r\n\r\n", b"\r\nx: " + b"a" * 100_000 + b"\r\n\r\n{}")
            (answer,) = await _together(url, 1, large, wanted=1) or [b"nothing"]
            status = answer.split(b"\r\n")[0].decode()
            yield Row(fired="a head of 100 KB", must="431", measured=status, held="431" in status)

            told = {host: await _status(url, mallory, host) for host in _FORGED}
            found = ", ".join(f"{host}: {status}" for host, status in told.items())
            yield Row(
                fired="Host of other names and ports",
                must="421",
                measured=found,
                held=set(told.values()) == {421},
            )

            await _spend(url, reader)
            yield Row(
                fired="critique_text with models by a token for reading only",
                must="nothing is paid",
                measured=f"{len(models.requests)} calls",
                held=not models.requests,
            )

            process.terminate()
            assert process.stderr is not None
            said = await anyio.to_thread.run_sync(process.stderr.read)
            errors = said.count("ERROR") + said.count("Traceback")
            yield Row(
                fired="connections that were given up, all of the above",
                must="no error in the log",
                measured=f"{errors} errors",
                held=not errors,
            )


_FORGED = ("localhost:1@evil.example", "localhost:1.evil.example", "evil.example:80")


def _head(url: str, token: str) -> Callable[[int], bytes]:
    def head(size: int) -> bytes:
        fields = bearer(token) | {"host": urlsplit(url).netloc, "content-length": str(size)}
        lines = [f"{name}: {value}" for name, value in fields.items()]
        return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode()

    return head


async def _together(url: str, count: int, sent: bytes, *, wanted: int) -> list[bytes]:
    """The first bytes of so many answers on more connections; fewer if they do not come."""
    answers: list[bytes] = []
    place = urlsplit(url)

    async def one() -> None:
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
            async with await anyio.connect_tcp(place.hostname or "", place.port or 0) as connection:
                with suppress(anyio.BrokenResourceError):
                    await connection.send(sent)
                answers.append(await connection.receive())
        if len(answers) >= wanted:
            group.cancel_scope.cancel()

    with anyio.move_on_after(_PATIENCE):
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
