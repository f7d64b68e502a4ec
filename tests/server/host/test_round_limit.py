"""Clients go and ask a limited number of times for one call; the run stops before they give up."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client._input_required import DEFAULT_INPUT_REQUIRED_MAX_ROUNDS

from sifaka_mcp.host.sampling import MOST_ROUNDS
from tests.stubs.sampling_client import TEXT, ByHand, ScriptedHost, data, handed_in, hosted

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, Any] = {
    "text": TEXT,
    "prompt": "write drafts, change the numbers",
    "model": "host",
    "critics": ["self_refine"],
    "max_iterations": 20,
}


async def improved(tmp_path: Path, call: ByHand) -> dict[str, Any]:
    host = ScriptedHost(content_with=50)
    async with hosted("memory", "auto", tmp_path, host) as client:
        return await call.finish(client, host)


async def test_the_limit_is_that_of_the_clients() -> None:
    assert MOST_ROUNDS == DEFAULT_INPUT_REQUIRED_MAX_ROUNDS == Client("").input_required_max_rounds


async def test_the_best_so_far_comes_back_with_the_reason_and_a_brief(tmp_path: Path) -> None:
    call = ByHand("improve_text", **ARGUMENTS)
    out = await improved(tmp_path, call)
    assert len(call.rounds) == MOST_ROUNDS
    assert (out["status"], out["stop_reason"]) == ("needs_revision", "awaiting_revision")
    assert out["text"] == "Draft 5 of the text.", "there was no round for a sixth"
    assert "ask their model 10 times for one call" in out["degraded"][-1]
    assert out["brief"]["parent_id"] == out["thought_id"]
    assert out["usage"]["model_calls"] == MOST_ROUNDS


async def test_a_client_of_the_sdk_does_not_run_into_its_limit(tmp_path: Path) -> None:
    host = ScriptedHost(content_with=50)
    async with hosted("memory", "auto", tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", ARGUMENTS))
    assert out["status"] == "needs_revision"
    assert len(host.asked) == MOST_ROUNDS


async def test_what_the_caller_submits_then_ends_the_run(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=50), ByHand("improve_text", **ARGUMENTS)
    async with hosted("memory", "auto", tmp_path, host) as client:
        out = await call.finish(client, host)
        asked = len(host.asked)
        done = await handed_in(client, out, "Draft 6 of the text.")
    assert (done["status"], done["accepted"], done["unchanged"]) == ("done", True, True)
    assert len(host.asked) == asked, "a run that was handed over leaves the host alone"


async def test_the_handshake_knows_no_limit(tmp_path: Path) -> None:
    host = ScriptedHost(content_with=6)
    async with hosted("memory", "legacy", tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", ARGUMENTS))
    assert (out["status"], out["text"]) == ("done", "Draft 6 of the text.")
    assert len(host.asked) > MOST_ROUNDS, "one after the other"
