"""The host's model writes and judges, in both eras of the protocol and over every transport."""

from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import LoggingLevel, LoggingMessageNotificationParams

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.provider import fails, opinion, provided
from tests.stubs.sampling_client import DRAFTS, TEXT, ByHand, ScriptedHost, data, hosted, words
from tests.stubs.served import served
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio


CRITICS: list[Any] = [
    "self_refine",
    {"type": "prompt", "name": "nice", "rubric": "is it nice?"},
    {"type": "self_consistency", "n": 2},
]
ARGUMENTS = DRAFTS | {"critics": CRITICS}
WITH_THREE_CRITIQUES = 3 * 4 + 2 + 3


def is_the_third_draft(out: dict[str, Any], host: ScriptedHost) -> bool:
    """Check that a run has come to its usual end, and that no question was asked twice."""
    found = (out["status"], out["stop_reason"], out["text"], out["iterations"], out["degraded"])
    assert found == ("done", "passed", "Draft 3 of the text.", 3, [])
    return out["usage"]["model_calls"] == len(host.asked) == WITH_THREE_CRITIQUES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transport", "era"), [("memory", "legacy"), ("memory", "auto"), ("stdio", "legacy")]
)
async def test_the_host_leads_to_the_same_text_in_both_eras(
    transport: Literal["memory", "stdio"], era: Era, tmp_path: Path
) -> None:
    host = ScriptedHost(content_with=3)
    async with hosted(transport, era, tmp_path, host) as client:
        assert is_the_third_draft(data(await client.call_tool("improve_text", ARGUMENTS)), host)


@pytest.mark.slow
async def test_over_http_the_host_is_asked_in_rounds_alone(tmp_path: Path) -> None:
    host, unasked = ScriptedHost(content_with=3), ScriptedHost()
    with served(tmp_path) as url:
        async with Client(url, sampling_callback=host) as client:
            assert is_the_third_draft(data(await client.call_tool("improve_text", ARGUMENTS)), host)
        async with Client(url, mode="legacy", sampling_callback=unasked) as client:
            arguments = {"text": TEXT, "prompt": "write drafts, change the numbers"}
            out = data(await client.call_tool("improve_text", arguments))
    assert (out["model"], out["status"], unasked.asked) == ("auto", "needs_revision", [])


async def test_an_iteration_takes_three_rounds(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=3), ByHand("improve_text", **ARGUMENTS)
    async with hosted("memory", "auto", tmp_path, host) as client:
        out = await call.finish(client, host)
    assert out["text"] == "Draft 3 of the text."
    assert [len(each.input_requests or {}) for each in call.rounds] == [1, 4, 1, 1, 4, 1, 1, 4]
    assert all(len(each.request_state or "") < 1000 for each in call.rounds)


async def test_reviews_answer_what_the_task_allows(tmp_path: Path, era: Era) -> None:
    host = ScriptedHost(content_with=3)
    arguments = {**ARGUMENTS, "prompt": "write drafts"}  # whose numbers differ: it does not say so
    async with hosted("memory", era, tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", arguments))
    assert (out["status"], out["text"]) == ("done", "Draft 3 of the text.")
    reviews = [each for each in host.asked if '"verdict"' in (each.system_prompt or "")]
    assert all("d1 (number): '0' became" in words(each) for each in reviews)
    assert len(host.asked) == WITH_THREE_CRITIQUES


async def test_auto_takes_the_host_where_it_is_offered(tmp_path: Path, era: Era) -> None:
    arguments = {"text": TEXT, "prompt": "write drafts, change the numbers"}
    host = ScriptedHost(content_with=1)
    async with hosted("memory", era, tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", arguments))
    assert (out["model"], out["text"]) == ("host", "Draft 1 of the text.")
    async with Client(SifakaServer(Settings(home=tmp_path)), mode=era) as client:
        out = data(await client.call_tool("improve_text", arguments))
    assert (out["model"], out["status"]) == ("auto", "needs_revision")


async def test_a_configured_provider_comes_before_the_host(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = ScriptedHost()
    server = SifakaServer(Settings(home=tmp_path, model="openai-chat:stub"))
    with provided([opinion("accept")], monkeypatch):
        async with Client(server, mode=era, sampling_callback=host) as client:
            out = data(await client.call_tool("improve_text", {"text": TEXT}))
    assert (out["model"], out["status"], host.asked) == ("openai-chat:stub", "done", [])


async def test_a_client_without_sampling_writes_itself(tmp_path: Path, era: Era) -> None:
    arguments = {"text": TEXT, "prompt": "write drafts, change the numbers", "model": "host"}
    async with Client(SifakaServer(Settings(home=tmp_path)), mode=era) as client:
        out = data(await client.call_tool("improve_text", arguments))
    assert out["status"] == "needs_revision"
    assert "the caller writes in place of a model that failed" in out["degraded"][-1]
    assert "the client offers no sampling" in out["degraded"][-1]
    assert out["usage"]["model_calls"] == 0


async def test_a_run_that_outlives_its_request_is_resumed(tmp_path: Path, era: Era) -> None:
    host = ScriptedHost(content_with=2)
    async with hosted("memory", era, tmp_path, host) as client:
        begun = data(await client.call_tool("improve_text", {**ARGUMENTS, "wait_seconds": 0}))
        assert begun["status"] == "running"
        out = data(await client.call_tool("resume_run", {"run_id": begun["run_id"]}))
    assert (out["status"], out["text"]) == ("done", "Draft 2 of the text.")
    assert out["usage"]["model_calls"] == len(host.asked)


async def test_a_revision_is_judged_by_the_host_where_the_judge_fails(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = ScriptedHost(content_with=1)
    settings = Settings(home=tmp_path, judge_model="openai-chat:stub", fallback_models=("host",))
    arguments = {
        "text": TEXT,
        "model": "caller",
        "critics": ["self_refine"],
        "facts": "off",
        "effort": "quick",
    }
    with provided([fails(401)] * 20, monkeypatch):
        async with Client(SifakaServer(settings), mode=era, sampling_callback=host) as client:
            begun = data(await client.call_tool("improve_text", arguments))
            revision = {
                "run_id": begun["run_id"],
                "parent_id": begun["brief"]["parent_id"],
                "text": "Draft 1 of the text.",
            }
            out = data(await client.call_tool("submit_revision", revision))
    assert (begun["status"], out["status"], out["accepted"]) == ("needs_revision", "done", True)
    assert len(host.asked) == 2


FOLLOWS_NO_TASK = {"text": "A text.", "prompt": "write", "model": "editor"}
"""The editor follows no task, which is told as degraded."""


@pytest.mark.parametrize(("level", "told"), [(None, 0), ("warning", 1), ("info", 1), ("error", 0)])
async def test_a_host_is_sent_warnings_after_it_has_set_a_level_for_them(
    tmp_path: Path, level: LoggingLevel | None, told: int
) -> None:
    messages: list[LoggingMessageNotificationParams] = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        messages.append(params)

    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, mode="legacy", logging_callback=hear) as client:
        assert client.server_capabilities is not None
        assert client.server_capabilities.logging is not None
        if level is not None:
            with pytest.warns(MCPDeprecationWarning):
                await client.set_logging_level(level)  # pyright: ignore[reportDeprecated]
        out = data(await client.call_tool("improve_text", FOLLOWS_NO_TASK))
    assert len(out["degraded"]) == 1
    assert [message.data for message in messages] == out["degraded"][:told]
    assert {message.level for message in messages} <= {"warning"}


async def test_over_http_the_level_is_taken_and_nothing_is_sent(tmp_path: Path) -> None:
    messages: list[LoggingMessageNotificationParams] = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        messages.append(params)

    with served(tmp_path) as url:
        async with Client(url, mode="legacy", logging_callback=hear) as client:
            with pytest.warns(MCPDeprecationWarning):
                await client.set_logging_level("debug")  # pyright: ignore[reportDeprecated]
            out = data(await client.call_tool("improve_text", FOLLOWS_NO_TASK))
    assert out["degraded"]
    assert messages == []
