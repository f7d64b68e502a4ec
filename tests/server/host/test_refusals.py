"""A user who does not allow that the host's model is asked."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageRequestParams, ErrorData

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.sampling_client import REFUSED, TEXT, ScriptedHost, data, hosted, is_for_a_writer

pytestmark = pytest.mark.anyio

ARGUMENTS: dict[str, Any] = {
    "text": TEXT,
    "prompt": "write drafts",
    "model": "host",
    "critics": ["self_refine", {"type": "prompt", "rubric": "is it nice?"}],
}


async def test_the_caller_writes_where_everything_is_refused(tmp_path: Path) -> None:
    host = ScriptedHost(refuses=lambda _: True)
    async with hosted("memory", "legacy", tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", ARGUMENTS))
        assert (out["status"], out["unchanged"]) == ("needs_revision", True)
        abstained = [line for line in out["degraded"] if "abstained" in line]
        assert len(abstained) == 2
        assert out["degraded"][-1] == (
            "the caller writes in place of a model that failed: host: the client refused to ask "
            "its model: User rejected sampling request"
        )
        assert len(host.asked) == 3, "two critics and the writer"
        submission = {
            "run_id": out["run_id"],
            "parent_id": out["brief"]["parent_id"],
            "text": "Draft 9 of the text.",
        }
        done = data(await client.call_tool("submit_revision", submission))
        assert (done["status"], done["accepted"]) == ("done", True)
        assert len(host.asked) == 3


async def test_where_critics_are_refused_the_host_writes_and_validators_decide(
    tmp_path: Path,
) -> None:
    rules = [{"type": "content", "prohibited": ["Draft 0"]}]
    host = ScriptedHost(refuses=lambda params: not is_for_a_writer(params))
    arguments = {**ARGUMENTS, "validators": rules}
    async with hosted("memory", "legacy", tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", arguments))
    assert len([line for line in out["degraded"] if "abstained" in line]) == 2
    assert (out["status"], out["stop_reason"]) == ("done", "max_iterations")
    assert out["text"] == "Draft 1 of the text.", "the later ones are no better by any measure"


async def test_a_refusal_ends_the_call_of_a_client_that_goes_through_rounds(
    tmp_path: Path,
) -> None:
    host = ScriptedHost(refuses=is_for_a_writer)
    async with hosted("memory", "auto", tmp_path, host) as client:
        with pytest.raises(MCPError, match="User rejected"):
            await client.call_tool("improve_text", ARGUMENTS)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
        assert line["status"] == "running"
        stopped = data(await client.call_tool("cancel_run", {"run_id": line["run_id"]}))
        assert (stopped["status"], stopped["unchanged"]) == ("cancelled", True)
        assert stopped["issues"], "what the critics have said is on record"


async def test_a_client_that_leaves_while_it_is_asked_has_cancelled_its_run(
    tmp_path: Path,
) -> None:
    asked, server = anyio.Event(), SifakaServer(Settings(home=tmp_path))

    async def hangs(context: ClientRequestContext, params: CreateMessageRequestParams) -> ErrorData:
        del context, params
        asked.set()
        await anyio.sleep_forever()
        return REFUSED

    async with (
        Client(server, mode="legacy", sampling_callback=hangs) as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(client.call_tool, "improve_text", ARGUMENTS)
        with anyio.fail_after(20):
            await asked.wait()
        group.cancel_scope.cancel()
    async with hosted("memory", "auto", tmp_path, ScriptedHost()) as client:
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
    assert line["status"] == "cancelled"
