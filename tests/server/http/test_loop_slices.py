"""No request holds the event loop up for long, whatever its text is made of."""

import socket
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from sifaka_mcp.http.serve import http_server
from sifaka_mcp.settings import Settings
from tests.hostile.texts import TEXTS
from tests.stubs.provider import Reply, calls, provider, says, told_of
from tests.stubs.served import client_of, in_thread
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


@pytest.mark.parametrize("size", [2_000, 12_000])
@pytest.mark.parametrize("kind", ["one line", "mistakes", "brackets", "Chinese", "short lines"])
async def test_no_slice_of_the_loop_is_long(url: str, kind: str, size: int) -> None:
    text = TEXTS[kind](size)
    with watched() as slices:
        async with client_of(url, None) as client:
            await ask(client, "It is is a text.")  # what is loaded once
            # What is long is long each time; a busy machine is not.
            for _ in range(3):
                if await longest(client, slices, text) <= LONGEST:
                    return
    pytest.fail(f"{slices.longest}")


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
