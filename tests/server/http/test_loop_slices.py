"""No request holds the event loop up for long, whatever its text or its sources are made of."""

import gc
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pydantic_core
import pytest
from mcp import Client

from sifaka_mcp.http.limits import MOST_VALUES
from sifaka_mcp.http.serve import http_server
from sifaka_mcp.settings import Settings
from tests.hostile.texts import TEXTS
from tests.stubs.provider import Reply, calls, provider, says, told_of
from tests.stubs.sampling_client import data
from tests.stubs.served import asking, client_of, in_thread
from tests.stubs.servers import http_server as process_of_a_server
from tests.stubs.servers import processor_seconds
from tests.stubs.slices import Slices, watched

pytestmark = pytest.mark.anyio


LONGEST = 0.05
"""Seconds of processor time."""
OPINION = {
    "verdict": "revise",
    "scores": {"clear": 0.5},
    "issues": [{"quote": "a", "message": "b"}],
}
VALIDATORS: list[dict[str, Any]] = [
    {"type": "length", "max_words": 120},
    {"type": "content", "required": ["refund"], "prohibited": ["a b"]},
    {"type": "readability", "max_grade": 8},
    {"type": "format", "format": "markdown"},
    {"type": "preserve"},
    {"type": "regex", "must_match": ["(a|aa)+$"]},
    {"type": "language", "expected": "en"},
]


def answer(request: dict[str, Any]) -> Reply:
    """A critique, or the text with one sentence more."""
    if request.get("tools"):
        return calls("answer", OPINION)
    said = request["messages"][-1]["content"]
    return says(said[said.find("<text") :].split("\n", 1)[-1].split("\n</", 1)[0] + " That is all.")


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """A server on asyncio's own loop, with a model."""
    with provider(answer) as models, socket.create_server(("127.0.0.1", 0)) as listener:
        told_of(models, monkeypatch)
        place = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        server = http_server(Settings(home=tmp_path, store="memory:"), place)
        server.config.loop = "asyncio"
        with in_thread(server, listener):
            yield place


async def ask(client: Client, text: str) -> None:
    """Each kind of work on a text."""
    model = {"model": "openai-chat:stub", "critics": ["self_refine", "lint"]}
    for tool, arguments in (
        ("validate_text", {"validators": VALIDATORS, "original": f"{text} b"}),
        ("critique_text", model),
        ("improve_text", {}),
        ("improve_text", {"prompt": "Make it clear.", "max_iterations": 1, **model}),
    ):
        result = await client.call_tool(tool, {"text": text, **arguments})
        assert not result.is_error, result.content


async def longest(client: Client, slices: Slices, text: str) -> float:
    slices.forget()
    await ask(client, text)
    return slices.elsewhere()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one line", "mistakes", "brackets", "Chinese", "short lines"])
async def test_no_slice_of_the_loop_is_long(url: str, kind: str) -> None:
    with watched() as slices:
        async with client_of(url, None) as client:
            await ask(client, "It is is a text.")  # what is loaded once
            for size in (2_000, 12_000):
                # What is long is long each time; a busy machine is not.
                for _ in range(3):
                    if await longest(client, slices, TEXTS[kind](size)) <= LONGEST:
                        break
                else:
                    pytest.fail(f"{slices.longest}")


def body_of(values: str) -> bytes:
    """A request to check a line with this for a schema."""
    schema = f'{{"enum": [{values}0]}}'
    validators = f'[{{"type": "format", "format": "json", "schema": {schema}}}]'
    arguments = f'{{"text": "A line.", "validators": {validators}}}'
    params = f'{{"name": "validate_text", "arguments": {arguments}}}'
    method = '"method": "tools/call"'
    return f'{{"jsonrpc": "2.0", "id": 1, {method}, "params": {params}}}'.encode()


async def longest_round(url: str, slices: Slices, bodies: list[bytes]) -> tuple[float, set[int]]:
    """What the loop did at once, at the most, while bodies came together; and the statuses."""
    statuses = set[int]()
    headers = asking()["headers"] | {"content-type": "application/json"}

    async def post(http: httpx2.AsyncClient, body: bytes) -> None:
        statuses.add((await http.post(url, content=body, headers=headers)).status_code)

    slices.forget()
    async with httpx2.AsyncClient(timeout=100) as http, anyio.create_task_group() as group:
        for body in bodies:
            group.start_soon(post, http, body)
    return slices.round_elsewhere(), statuses


def parsed_in_rounds(slices: Slices, monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[int, int]]:
    """Counts the bodies that are parsed from now on in each round of each thread's loop."""
    parse, parsed = pydantic_core.from_json, Counter[tuple[int, int]]()

    def parse_in_a_round(data: bytes, *more: Any) -> Any:
        thread = threading.get_ident()
        parsed[thread, slices.looks[thread]] += 1
        return parse(data, *more)

    monkeypatch.setattr(pydantic_core, "from_json", parse_in_a_round)
    return parsed


MANY_VALUES = ("[],", '{"a":1},', '"",')


@pytest.mark.parametrize("values", MANY_VALUES)
async def test_a_body_of_millions_of_values_is_refused_before_it_is_parsed(
    url: str, values: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched() as slices:
        parsed = parsed_in_rounds(slices, monkeypatch)
        _, statuses = await longest_round(url, slices, [body_of("")])
        assert (statuses, parsed.total()) == ({200}, 1)
        _, statuses = await longest_round(url, slices, [body_of(values * 2_000_000)])
    assert (statuses, parsed.total()) == ({413}, 1)


@pytest.mark.slow
async def test_of_many_bodies_one_is_parsed_at_a_time(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = body_of("").ljust(256 * 1024)
    with watched() as slices:
        parsed = parsed_in_rounds(slices, monkeypatch)
        _, statuses = await longest_round(url, slices, [body] * 40)
    assert statuses == {200}
    assert parsed.total() == 40
    assert set(parsed.values()) == {1}


@pytest.mark.hostile
@pytest.mark.parametrize("values", MANY_VALUES)
async def test_nor_does_it_hold_the_loop_up(url: str, values: str) -> None:
    body = body_of(values * (16_000_000 // len(values)))
    with watched() as slices:
        await longest_round(url, slices, [body_of("")])
        for _ in range(3):
            took, statuses = await longest_round(url, slices, [body])
            assert statuses == {413}
            if took <= LONGEST:
                return
    pytest.fail(f"{slices.rounds}")


@pytest.mark.hostile
async def test_bodies_that_come_together_hold_the_loop_up_no_longer_than_one(url: str) -> None:
    body = body_of("[]," * (MOST_VALUES // 2 - 20))
    with watched() as slices:
        await longest_round(url, slices, [body_of("")])
        gc.collect()
        gc.freeze()  # what other tests have left is not to be gone through meanwhile
        try:
            for _ in range(3):
                took, statuses = await longest_round(url, slices, [body] * 40)
                assert statuses == {200}
                if took <= 2 * LONGEST:
                    return
        finally:
            gc.unfreeze()
    pytest.fail(f"{slices.rounds}")


async def test_a_long_slice_is_seen() -> None:
    with watched() as slices:

        def work() -> None:
            until = time.thread_time() + 2 * LONGEST
            while time.thread_time() < until:
                pass

        async def hold() -> None:
            work()

        await anyio.to_thread.run_sync(lambda: anyio.run(hold))
        assert slices.elsewhere() > LONGEST
        assert slices.round_elsewhere() > LONGEST


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
        with process_of_a_server(tmp_path, SIFAKA_TOOLSETS="evidence", **told) as (url, process):
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
