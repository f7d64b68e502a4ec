"""Runs that take longer than their request: waiting, polling, cancelling, leaving."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from server.app import SifakaServer
from server.settings import Settings
from tests.stubs.provider import HANGS, Provider, provider, says
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio

TEXT = "one two three four"
RULES = [{"type": "length", "max_words": 3}]


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A provider that writes one version and then never answers again."""
    with provider([says("one two three four five"), *[HANGS] * 3]) as served:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key")
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        yield served


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, model="openai-chat:stub")


ARGUMENTS: dict[str, Any] = {"text": TEXT, "validators": RULES, "critics": []}


async def test_a_run_that_takes_longer_answers_running_and_can_be_cancelled(
    hanging: Provider, settings: Settings, era: Era
) -> None:
    async with Client(SifakaServer(settings), mode=era) as client:
        with anyio.fail_after(20):
            result = await client.call_tool("improve_text", {**ARGUMENTS, "wait_seconds": 0.2})
        out = result.structured_content
        assert out is not None
        assert (out["status"], out["stop_reason"]) == ("running", None)
        assert out["text"] == TEXT
        again = await client.call_tool("get_thought_history", {"run_id": out["run_id"]})
        assert again.structured_content is not None
        assert again.structured_content["run"]["status"] == "running"
        with anyio.fail_after(5):
            cancelled = await client.call_tool("cancel_run", {"run_id": out["run_id"]})
        assert cancelled.structured_content is not None
        assert cancelled.structured_content["status"] == "cancelled"
        assert cancelled.structured_content["text"] == TEXT


async def test_a_request_that_is_cancelled_cancels_its_run(
    hanging: Provider, settings: Settings, era: Era
) -> None:
    async def leave(progress: float, total: float | None, message: str | None) -> None:
        scope.cancel()

    async with Client(SifakaServer(settings), mode=era) as client:
        with anyio.CancelScope() as scope:
            await client.call_tool("improve_text", ARGUMENTS, progress_callback=leave)
        statuses = ["running"]
        with anyio.fail_after(10):
            while statuses == ["running"]:
                listed = await client.call_tool("get_thought_history", {})
                assert listed.structured_content is not None
                statuses = [run["status"] for run in listed.structured_content["runs"]]
        assert statuses == ["cancelled"]


async def test_progress_tells_what_is_being_done_and_rises(tmp_path: Path, era: Era) -> None:
    told: list[tuple[float, str]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message or ""))

    async with Client(SifakaServer(Settings(home=tmp_path)), mode=era) as client:
        await client.call_tool(
            "improve_text", {"text": "It is is the the end ."}, progress_callback=listen
        )
    assert [value for value, _ in told] == sorted({value for value, _ in told})
    assert any("critique" in message for _, message in told)
