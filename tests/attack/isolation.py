"""One tenant's expensive requests, and how long another waits meanwhile."""

import json
import statistics
import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
import httpx2
from anyio.streams.text import TextReceiveStream

from tests.attack.table import Row
from tests.stubs.served import asking, bearer, grant_token
from tests.stubs.servers import http_server

HEALTH = 0.25
"""Seconds in which `/healthz` must answer, 99 times in 100."""
MODEST = 1.0
"""Seconds in which another tenant's one-line `validate_text` must answer, 99 times in 100."""
_AT_ONCE = 8
"""Requests of the hostile tenant that are under way together."""
_BEGUN = "begun\n"
"""What the attacker says before its first request."""

_DEEP: dict[str, Any] = {"$ref": "#/$defs/d0", "$defs": {"d30": {"type": "string"}}}
for _level in range(30):
    _next = {"$ref": f"#/$defs/d{_level + 1}"}
    _DEEP["$defs"][f"d{_level}"] = {"allOf": [_next, _next]}

KINDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "patterns that repeat without end": (
        "validate_text",
        {"text": "a" * 50, "validators": [{"type": "regex", "must_match": ["a{1000000000}"]}] * 50},
    ),
    "patterns that backtrack": (
        "validate_text",
        {
            "text": "a" * 5000 + "!",
            "validators": [{"type": "regex", "must_match": ["(a|aa)+$", "(x+x+)+y"] * 25}] * 50,
        },
    ),
    "schemas of many branches": (
        "validate_text",
        {
            "text": "[1]",
            "validators": [
                {
                    "type": "format",
                    "format": "json",
                    "schema": {"items": {"oneOf": [{"const": 0}] * 3200}},
                }
            ]
            * 10,
        },
    ),
    "millions of values": (
        "validate_text",
        {
            "text": "[1]",
            "validators": [{"type": "format", "format": "json", "schema": {"enum": [[]] * 10**6}}],
        },
    ),
    "schemas that double": (
        "validate_text",
        {"text": "[1]", "validators": [{"type": "format", "format": "json", "schema": _DEEP}] * 50},
    ),
    "emoji": ("critique_text", {"text": "😀" * 24_000, "critics": ["lint"]}),
    "Chinese": ("critique_text", {"text": "他昨天去了学校。" * 6_000, "critics": ["lint"]}),
    "mistakes": ("critique_text", {"text": "I has teh apple of there. " * 6_000}),
    "brackets": ("improve_text", {"text": "[" * 100_000}),
    "one word": ("improve_text", {"text": "word " * 100_000}),
}
"""The tool and the arguments of each kind of request."""

_ONE_LINE: tuple[str, Mapping[str, Any]] = (
    "validate_text",
    {
        "text": "A line.",
        "validators": [
            {"type": "length", "max_words": 5},
            {"type": "regex", "must_match": ["line"]},
        ],
    },
)


@dataclass
class Waits:
    """The waiting times of the modest while one kind was fired."""

    kind: str
    health: list[float] = field(default_factory=list[float])
    modest: list[float] = field(default_factory=list[float])
    answered: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list[str])

    def row(self) -> Row:
        """Whether the modest did not have to wait too long."""
        health, modest = _p99(self.health), _p99(self.modest)
        told = (
            f"p99 {health * 1000:.0f} ms of {len(self.health)}, {modest * 1000:.0f} ms of "
            f"{len(self.modest)}; {self.answered} attacks answered, the slowest in "
            f"{self.slowest:.1f} s"
        )
        return Row(
            fired=f"{_AT_ONCE} at once: {self.kind}",
            must=f"`/healthz` within {HEALTH * 1000:g} ms, a line of another tenant in "
            f"{MODEST * 1000:g} ms",
            measured="; ".join((told, *self.failures[:3])),
            held=health <= HEALTH and modest <= MODEST and not self.failures,
        )


async def attack(home: Path, seconds: float) -> AsyncGenerator[Row]:
    """Fire each kind for some seconds, then all together."""
    tokens = home / "tokens"
    mallory, alice = grant_token(tokens, "mallory"), grant_token(tokens, "alice")
    settings = {
        "SIFAKA_AUTH_TOKENS_FILE": str(tokens),
        "SIFAKA_RATE_LIMIT": "100000/minute",
        "SIFAKA_LOG_LEVEL": "ERROR",
    }
    with http_server(home, **settings) as (address, _):
        url = address.rstrip("/").removesuffix("/mcp")
        for kind in KINDS:
            yield await _one(url, mallory, alice, kind, (kind,), seconds)
        yield await _one(url, mallory, alice, "all of them", tuple(KINDS), seconds * 2)


async def _one(
    url: str, mallory: str, alice: str, name: str, kinds: tuple[str, ...], seconds: float
) -> Row:
    row = Waits(name)
    line = _body(*_ONE_LINE)
    # A process of its own: the attacker's work must not look like the server's.
    command = [sys.executable, "-m", __name__, url, mallory, str(seconds), *kinds]
    async with (
        httpx2.AsyncClient(timeout=60, headers=bearer(alice)) as modest,
        await anyio.open_process(command, stderr=None) as attacker,
    ):
        assert attacker.stdout is not None
        said = TextReceiveStream(attacker.stdout)
        await _ask(modest, url, line)  # what is imported at the first call is not the attack's
        assert await said.receive() == _BEGUN
        with anyio.move_on_after(seconds):
            while True:
                row.health.append(await _timed(modest.get(f"{url}/healthz")))
                row.modest.append(await _timed(_ask(modest, url, line)))
                await anyio.sleep(0.05)
        told = "".join([part async for part in said])
        row.answered, row.slowest, row.failures = json.loads(told)
    return row.row()


async def _fire(url: str, token: str, seconds: float, kinds: list[str]) -> None:
    """The attacker: asks for so long, and tells what became of it."""
    answers: list[float] = []
    failures: list[str] = []

    async def ask(kind: str, body: bytes) -> None:
        while True:
            try:
                answers.append(await _timed(_ask(http, url, body)))
            except (httpx2.TransportError, AssertionError) as error:
                failures.append(f"{kind}: {error!r}"[:300])
                return

    bodies = {kind: _body(*KINDS[kind]) for kind in kinds}
    limits = httpx2.Limits(max_connections=100)
    async with httpx2.AsyncClient(limits=limits, timeout=300, headers=bearer(token)) as http:
        sys.stdout.write(_BEGUN)
        sys.stdout.flush()
        async with anyio.create_task_group() as group:
            for kind, body in bodies.items():
                for _ in range(max(1, _AT_ONCE // len(kinds))):
                    group.start_soon(ask, kind, body)
            await anyio.sleep(seconds)
            group.cancel_scope.cancel()
    sys.stdout.write(json.dumps([len(answers), max(answers, default=0.0), failures]))


def _body(tool: str, arguments: Mapping[str, Any]) -> bytes:
    return json.dumps(asking("tools/call", name=tool, arguments=arguments)["json"]).encode()


async def _ask(http: httpx2.AsyncClient, url: str, body: bytes) -> None:
    headers = asking()["headers"] | {"content-type": "application/json"}
    answer = await http.post(f"{url}/mcp", content=body, headers=headers)
    assert answer.status_code in (200, 413, 429), answer.text


async def _timed(awaitable: Any) -> float:
    began = perf_counter()
    await awaitable
    return perf_counter() - began


def _p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98] if len(seconds) > 1 else float("inf")


if __name__ == "__main__":
    _url, _token, _seconds, *_kinds = sys.argv[1:]
    anyio.run(_fire, _url, _token, float(_seconds), _kinds)
