"""Minutes of load on one server: what a request costs, and what the server holds, stay flat."""

import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2

from tests.attack.table import Row, megabytes
from tests.stubs.provider import provider, says
from tests.stubs.redis_server import redis_server
from tests.stubs.served import asking
from tests.stubs.servers import http_server

PARTS = 5
"""Equal parts of the time, after the warming up."""
WARM = 200
"""Requests before the time begins: what is loaded once, and connections, are there then."""
CLIENTS = 4
GROWTH = 1.15
"""How much dearer a request may be in the last part than in the first, in processor time."""
MEMORY, FILES = 40, 10
"""Megabytes and open files that may be added from the first part to the last."""


@dataclass(frozen=True)
class _State:
    requests: int
    seconds: float
    memory: int
    files: int

    @classmethod
    def of(cls, pid: int, requests: int) -> "_State":
        """The server's processor time, memory and open files, on Linux."""
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        seconds = ticks / os.sysconf("SC_CLK_TCK")
        return cls(requests, seconds, megabytes(pid, "VmRSS"), files)

    def cost(self, before: "_State") -> float:
        """Milliseconds of processor time a request since then."""
        return 1000 * (self.seconds - before.seconds) / max(1, self.requests - before.requests)


async def soak(home: Path, minutes: float) -> AsyncGenerator[Row]:
    """Improve, check and list, by some clients at once, over a real Redis."""
    errors: list[str] = []
    answered = 0
    warm = anyio.Event()
    calls = (
        {
            "name": "improve_text",
            "arguments": {
                "text": "one two three four",
                "model": "openai-chat:stub",
                "validators": [{"type": "length", "max_words": 3}],
                "critics": [],
            },
        },
        {"name": "critique_text", "arguments": {"text": "It is is teh end. " * 20}},
        {
            "name": "validate_text",
            "arguments": {
                "text": "A line.",
                "validators": [{"type": "regex", "must_match": ["line"]}],
            },
        },
        {"name": "get_thought_history", "arguments": {"limit": 5}},
    )

    async def load(url: str) -> None:
        nonlocal answered
        async with httpx2.AsyncClient(timeout=120) as http:
            while True:
                for params in calls:
                    asked = asking("tools/call", **params)
                    answer = await http.post(url, json=asked["json"], headers=asked["headers"])
                    if answer.status_code != 200 or '"isError":true' in answer.text:
                        errors.append(answer.text[:200])
                    answered += 1
                    if answered >= WARM:
                        warm.set()

    with redis_server() as redis, provider(lambda _: says("one two three")) as models:
        settings = {
            "SIFAKA_STORE": redis.url,
            "SIFAKA_RATE_LIMIT": "100000/second",
            "SIFAKA_LOG_LEVEL": "ERROR",
            "OPENAI_API_KEY": "sk-test-key",
            "OPENAI_BASE_URL": models.url,
        }
        with http_server(home, **settings) as (url, process):
            states: list[_State] = []
            async with anyio.create_task_group() as group:
                for _ in range(CLIENTS):
                    group.start_soon(load, url)
                await warm.wait()
                states.append(_State.of(process.pid, answered))
                for _ in range(PARTS):
                    await anyio.sleep(60 * minutes / PARTS)
                    states.append(_State.of(process.pid, answered))
                group.cancel_scope.cancel()
    begin, early, *_, late, last = states
    before, after = early.cost(begin), last.cost(late)
    memory, files = last.memory - early.memory, last.files - early.files
    yield Row(
        fired=f"{CLIENTS} clients for {minutes:g} minutes: {answered} requests over Redis",
        must=f"no error; a request at most {GROWTH:g} times as dear, {MEMORY} MB and {FILES} files "
        "more at the end",
        measured=f"{len(errors)} errors; {before:.1f} and {after:.1f} ms of processor time; "
        f"{memory:+} MB of {last.memory}, {files:+} files"
        + "".join(f"; {error}" for error in errors[:1]),
        held=not errors
        and answered > 0
        and after <= GROWTH * before
        and memory <= MEMORY
        and files <= FILES,
    )
