"""Sources and quotes that were made to take long leave the server answering."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from tests.stubs.provider import Reply, calls, provider, told_of
from tests.stubs.sampling_client import data
from tests.stubs.servers import http_server, processor_seconds

pytestmark = pytest.mark.anyio

SLOWER = 0.25
"""Seconds of processor time by which the slowest answer may exceed that of an idle server."""
SOURCES = {
    "one word": "word " * 199_000,
    "dashes": "alpha beta" + "- " * 495_000,
    "marks": "alpha beta " + "“'" * 490_000,
    "accents": "alpha bet" + "a\u0301" * 490_000,
    "sentences": "It is so. " * 99_000,
}
QUOTES = [
    "word " * 190 + "end",
    "sword word word word word",
    "alpha beta " + "- " * 400 + "zeta",
    "alpha beta " + "'" * 900 + "zeta",
    "It is so. " * 90 + "It is not",
]


def hostile(request: dict[str, Any]) -> Reply:
    """Supports every claim with five quotes, three times over."""
    del request
    judgements = [
        {"criterion": f"claim-{n}", "judgement": "support", "quotes": QUOTES}
        for n in (1, 2, 3, 4) * 3
    ]
    return calls("answer", {"judgements": judgements})


Clock = Callable[[], float]
"""The processor time of a server; what waits for a busy machine's processors has none."""


async def slowest(http: httpx2.AsyncClient, url: str, clock: Clock, done: anyio.Event) -> float:
    """What the server does before the slowest answer to `/healthz` until it is done."""
    worst = 0.0
    while not done.is_set():
        started = clock()
        assert (await http.get(url)).status_code == 200
        worst = max(worst, clock() - started)
    return worst


async def times(
    client: Client, http: httpx2.AsyncClient, url: str, clock: Clock, text: str
) -> float:
    """The slowest answer to `/healthz` while four claims are held against a text."""
    done, worst = anyio.Event(), 0.0

    async def watch() -> None:
        nonlocal worst
        worst = await slowest(http, url.replace("/mcp", "/healthz"), clock, done)

    claims = [f"The tower {n} is {n} metres high, word for word." for n in range(4)]
    asked = {"claims": claims, "sources": [{"text": text}], "model": "openai-chat:stub"}
    out: dict[str, Any] = {}
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        out = data(await client.call_tool("verify_evidence", asked))
        done.set()
    assert "supported" not in {each["verdict"] for each in out["verdicts"]}
    return worst


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "sentences",
        *(pytest.param(each, marks=pytest.mark.hostile) for each in SOURCES if each != "sentences"),
    ],
)
async def test_health_is_told_while_hostile_sources_are_judged(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(hostile) as judge:
        told = told_of(judge, monkeypatch)
        with http_server(tmp_path, SIFAKA_TOOLSETS="evidence", **told) as (url, process):
            clock = partial(processor_seconds, process)
            async with httpx2.AsyncClient(timeout=60) as http, Client(url) as client:
                # The first one imports what it needs.
                await times(client, http, url, clock, "A short text.")
                more = list[float]()
                # Other work on the machine can slow one of them down, a blocked loop each of them.
                for number in range(6):
                    idle = await times(client, http, url, clock, f"A short text, number {number}.")
                    busy = await times(client, http, url, clock, f"{SOURCES[source]} {number}")
                    more.append(busy - idle)
                    if more[-1] <= SLOWER:
                        break
    assert min(more) <= SLOWER
