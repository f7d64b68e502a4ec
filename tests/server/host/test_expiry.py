"""A client that is asked and does not come back: whoever resumes its run goes on without it."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.sampling_client import (
    TEXT,
    ByHand,
    ScriptedHost,
    data,
    handed_in,
    is_for_the_second_draft,
)
from tests.stubs.servers import state_of

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, Any] = {
    "text": TEXT,
    "prompt": "write drafts, change the numbers",
    "model": "host",
    "critics": ["self_refine"],
    "max_iterations": 3,
}


async def test_a_run_that_is_not_answered_is_gone_on_with_without_its_host(tmp_path: Path) -> None:
    host = ScriptedHost(refuses=is_for_the_second_draft)
    settings = Settings(home=tmp_path)
    server, later = SifakaServer(settings), SifakaServer(settings, host_seconds=0.001)
    async with Client(server, sampling_callback=host) as client, Client(later) as other:
        with pytest.raises(MCPError, match="User rejected"):
            await client.call_tool("improve_text", ARGUMENTS)
        (line,) = data(await other.call_tool("get_thought_history"))["runs"]
        assert line["status"] == "running"
        asked = len(host.asked)
        out = data(await other.call_tool("resume_run", {"run_id": line["run_id"]}))
        assert (out["status"], out["text"]) == ("needs_revision", "Draft 1 of the text.")
        assert out["brief"]["issues"][0]["message"] == "go on", "what was answered is kept"
        done = await handed_in(other, out, "Draft 2 of the text.")
        assert (done["status"], done["accepted"]) == ("done", True)
        assert len(host.asked) == asked


async def test_answers_that_come_too_late_are_refused_and_change_nothing(tmp_path: Path) -> None:
    host, call = ScriptedHost(), ByHand("improve_text", **ARGUMENTS)
    server = SifakaServer(Settings(home=tmp_path), host_seconds=0.001)
    async with Client(server, sampling_callback=host) as client:
        await call.go_on(client, host)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
        store = state_of(server).store
        run = await store.load(line["run_id"])
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await call.go_on(client, host)
        assert await store.load(run.run_id) == run


async def test_a_run_whose_answers_somebody_else_waits_for_is_left_alone(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=1), ByHand("improve_text", **ARGUMENTS)
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, sampling_callback=host) as client, Client(server) as other:
        await call.go_on(client, host)
        (line,) = data(await other.call_tool("get_thought_history"))["runs"]
        arguments = {"run_id": line["run_id"], "wait_seconds": 0.2}
        seen = data(await other.call_tool("resume_run", arguments))
        assert (seen["status"], seen["brief"]) == ("running", None)
        assert (await call.finish(client, host))["status"] == "done"


async def test_after_a_restart_what_has_waited_too_long_is_settled(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=1), ByHand("improve_text", **ARGUMENTS)
    async with Client(SifakaServer(Settings(home=tmp_path)), sampling_callback=host) as client:
        await call.go_on(client, host)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
    server = SifakaServer(Settings(home=tmp_path), host_seconds=0.001)
    async with Client(server) as other:
        out = data(await other.call_tool("resume_run", {"run_id": line["run_id"]}))
    assert (out["status"], out["unchanged"]) == ("needs_revision", True)
    assert out["brief"] is not None
