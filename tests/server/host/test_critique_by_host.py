"""`critique_text` asks the host's model too, and keeps nothing but what the client carries."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.host import sampling
from sifaka_mcp.settings import Settings
from tests.stubs.sampling_client import TEXT, ByHand, ScriptedHost, data, hosted, said
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, Any] = {
    "text": TEXT,
    "critics": ["self_refine", "lint", {"type": "self_consistency", "n": 3}],
    "model": "host",
}


async def test_critics_ask_the_host_in_both_eras(tmp_path: Path, era: Era) -> None:
    host = ScriptedHost()
    async with hosted("memory", era, tmp_path, host) as client:
        out = data(await client.call_tool("critique_text", ARGUMENTS))
        assert data(await client.call_tool("get_thought_history"))["runs"] == []
    assert (out["verdict"], out["rubric"], out["degraded"]) == ("revise", None, [])
    assert {issue["quote"] for issue in out["issues"]} == {"Draft 0"}
    assert out["usage"]["model_calls"] == len(host.asked) == 5


async def test_without_sampling_there_is_a_rubric_for_the_caller(tmp_path: Path, era: Era) -> None:
    async with Client(SifakaServer(Settings(home=tmp_path)), mode=era) as client:
        out = data(await client.call_tool("critique_text", {"text": TEXT, "model": "host"}))
    assert out["rubric"]
    assert [each["critic"] for each in out["critiques"]] == ["lint"]


async def test_the_answers_of_earlier_rounds_travel_with_the_request(tmp_path: Path) -> None:
    host, call = ScriptedHost(), ByHand("critique_text", **ARGUMENTS)
    async with hosted("memory", "auto", tmp_path, host) as client:
        assert await call.go_on(client, host) is None
        assert len(call.questions) == 4
        unread, *others = call.questions
        answers = {**call.answers(host, others), unread: said("well")}
        assert await call.call(client, answers) is None
    again = [key for key in call.questions if "/join" not in key]
    assert len(again) == 1, "only what could not be read is asked again"
    async with hosted("memory", "auto", tmp_path, host) as client:
        out = await call.finish(client, host)
    assert (out["verdict"], out["degraded"]) == ("revise", [])
    assert len(host.asked) == 5
    assert out["usage"]["model_calls"] == 6


async def test_a_budget_holds_over_all_rounds(tmp_path: Path) -> None:
    host = ScriptedHost()
    call = ByHand("critique_text", **ARGUMENTS, budget={"max_calls": 3})
    async with hosted("memory", "auto", tmp_path, host) as client:
        out = await call.finish(client, host)
    assert [len(each.input_requests or {}) for each in call.rounds] == [1]
    assert out["usage"]["model_calls"] == 1
    assert "self_consistency" in out["degraded"][0]


async def test_what_travels_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "LARGEST_STATE", 2000)
    host, call = ScriptedHost(), ByHand("critique_text", **ARGUMENTS)
    long = json.dumps({"verdict": "revise", "suggestions": ["x" * 3000]})
    async with hosted("memory", "auto", tmp_path, host) as client:
        await call.go_on(client, host)
        unread, *others = sorted(call.questions)  # whichever critic was first to ask
        result = await call.call(client, {**dict.fromkeys(others, said(long)), unread: said("?")})
    assert result is not None
    out = data(result)
    assert len(out["degraded"]) == 2, "the second question, and the one that joins the reviews"
    assert all("longer than 2,000 characters together" in line for line in out["degraded"])
    assert [each["status"] for each in out["critiques"]] == ["abstained", "ok", "ok"]


async def test_critics_whose_answers_cannot_be_read_abstain(tmp_path: Path) -> None:
    host = ScriptedHost(says=said("well"))
    async with hosted("memory", "auto", tmp_path, host) as client:
        out = data(await client.call_tool("critique_text", ARGUMENTS))
    assert (out["verdict"], len(out["degraded"])) == ("undecided", 2), "only lint was heard"
