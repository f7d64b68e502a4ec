"""A user who does not allow that the host's model is asked."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageRequestParams, CreateMessageResult, ErrorData

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.sampling_client import (
    DRAFTS,
    REFUSED,
    TEXT,
    ByHand,
    ScriptedHost,
    data,
    handed_in,
    hosted,
    is_for_a_writer,
    is_for_the_second_draft,
    said,
)
from tests.stubs.served import served
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio

CRITICS: list[Any] = ["self_refine", {"type": "prompt", "rubric": "is it nice?"}]
ARGUMENTS = DRAFTS | {"critics": CRITICS}


async def test_the_caller_writes_where_everything_is_refused(tmp_path: Path) -> None:
    host = ScriptedHost(refuses=lambda _: True)
    async with hosted("memory", "legacy", tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", ARGUMENTS))
        assert (out["status"], out["unchanged"]) == ("needs_revision", True)
        assert out["degraded"][-1] == (
            "the caller writes in place of a model that failed: host: the client refused to ask "
            "its model: User rejected sampling request"
        )
        assert len(host.asked) == 1, "the writer, and nobody after it"
        done = await handed_in(client, out, "Draft 9 of the text.")
        assert (done["status"], done["accepted"]) == ("done", True)
        assert len(host.asked) == 1


async def test_a_person_who_has_declined_once_is_not_asked_again(tmp_path: Path) -> None:
    rules = [{"type": "content", "prohibited": ["Draft 0"]}]
    host = ScriptedHost(refuses=lambda params: not is_for_a_writer(params))
    arguments = {**ARGUMENTS, "validators": rules}
    async with hosted("memory", "legacy", tmp_path, host) as client:
        out = data(await client.call_tool("improve_text", arguments))
    assert len([line for line in out["degraded"] if "abstained" in line]) == 2
    assert out["status"] == "needs_revision"
    assert len(host.asked) in {2, 3}, "the writer, and the critics that ask before one is refused"
    assert "User rejected sampling request" in out["degraded"][-1]
    assert out["brief"] is not None


@pytest.mark.parametrize("again", ["resume_run", "improve_text"])
async def test_a_refusal_between_rounds_leads_to_a_brief(tmp_path: Path, again: str) -> None:
    host = ScriptedHost(refuses=is_for_the_second_draft)
    async with hosted("memory", "auto", tmp_path, host) as client:
        with pytest.raises(MCPError, match="User rejected"):  # it never tells the server
            await client.call_tool("improve_text", ARGUMENTS)
        asked = len(host.asked)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
        arguments = {"run_id": line["run_id"]} if again == "resume_run" else ARGUMENTS
        out = data(await client.call_tool(again, arguments))
        assert (out["run_id"], out["status"]) == (line["run_id"], "needs_revision")
        assert "come back without the answers that it was asked for" in out["degraded"][-1]
        assert out["brief"]["issues"][0]["message"] == "go on", "what was answered is kept"
        assert len(host.asked) == asked
        done = await handed_in(client, out, "Draft 9 of the text.")
        assert (done["status"], done["accepted"]) == ("done", True)
        assert len(host.asked) == asked
        assert len(data(await client.call_tool("get_thought_history"))["runs"]) == 1


async def test_another_text_is_asked_about_anew(tmp_path: Path) -> None:
    declined = [True]
    host = ScriptedHost(content_with=1, refuses=lambda _: declined[0])
    async with hosted("memory", "auto", tmp_path, host) as client:
        with pytest.raises(MCPError, match="User rejected"):
            await client.call_tool("improve_text", ARGUMENTS)
        declined[0] = False
        other = {**ARGUMENTS, "prompt": "write other drafts, change the numbers"}
        out = data(await client.call_tool("improve_text", other))
    assert (out["status"], out["text"]) == ("done", "Draft 1 of the text.")


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_sentence_with_a_task_costs_two_questions(tmp_path: Path, era: Era) -> None:
    for content_with in (1, 9):
        host = ScriptedHost(content_with=content_with)
        async with hosted("memory", era, tmp_path / str(content_with), host) as client:
            arguments = {"text": TEXT, "prompt": "write drafts, change the numbers"}
            out = data(await client.call_tool("improve_text", arguments))
        assert (out["model"], out["status"], out["text"]) == (
            "host",
            "done",
            "Draft 1 of the text.",
        )
        assert len(host.asked) == 2


async def test_the_third_question_compares_the_version_with_the_input(tmp_path: Path) -> None:
    for preferred, text in (("text", "Draft 1 of the text."), ("original", None)):
        host = ScriptedHost(content_with=1, prefers=preferred)
        async with hosted("memory", "auto", tmp_path / preferred, host) as client:
            result = await client.call_tool("improve_text", {"text": TEXT, "facts": "off"})
        out = data(result)
        assert (out["model"], out["text"], len(host.asked)) == ("host", text, 3)
        reasons = [each["reason"] for each in out["turned_down"]]
        assert bool(reasons) == (text is None)
        assert all("comparison with the original" in reason for reason in reasons)
        told = [each for each in out["checked"] if each["what"] == "no worse than the input"]
        assert [each["done"] for each in told] == ([True] if text else [])
        assert all("no worse than" not in getattr(part, "text", "") for part in result.content), (
            "it was checked"
        )


async def test_a_task_that_rules_do_not_know_costs_no_further_question(tmp_path: Path) -> None:
    text, version = "The meeting is on 5 May in room 12.", "The meeting is on 5 May in room 14."
    asked: list[CreateMessageRequestParams] = []

    async def answers(
        context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        del context
        asked.append(params)
        if is_for_a_writer(params):
            return said(version)
        covered = [{"id": "d1", "quote": "fit the new plan"}]
        opinion = {"verdict": "accept", "covered": covered, "better": "text"}
        return said(json.dumps(opinion))

    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, sampling_callback=answers) as client:
        arguments = {"text": text, "prompt": "Make it fit the new plan."}
        out = data(await client.call_tool("improve_text", arguments))
    assert (out["status"], out["text"]) == ("done", version)
    assert [is_for_a_writer(each) for each in asked] == [True, False]


async def test_the_true_reason_is_told_where_there_is_no_way_back(tmp_path: Path) -> None:
    host = ScriptedHost()
    with served(tmp_path) as url:
        async with Client(url, mode="legacy", sampling_callback=host) as client:
            out = data(await client.call_tool("improve_text", {**ARGUMENTS, "critics": ["lint"]}))
    assert (out["status"], host.asked) == ("needs_revision", [])
    assert "where it keeps no sessions, this server cannot ask a client" in out["degraded"][-1]


async def test_resume_run_waits_for_a_host_as_long_as_it_was_told(tmp_path: Path) -> None:
    host, call = ScriptedHost(content_with=1), ByHand("improve_text", **ARGUMENTS)
    server = SifakaServer(Settings(home=tmp_path))
    ended: list[dict[str, Any]] = []
    async with Client(server, sampling_callback=host) as client, Client(server) as other:
        await call.go_on(client, host)
        (line,) = data(await other.call_tool("get_thought_history"))["runs"]
        arguments = {"run_id": line["run_id"], "wait_seconds": 60}

        async def wait() -> None:
            ended.append(data(await other.call_tool("resume_run", arguments)))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await call.finish(client, host)
    assert [(out["status"], out["text"]) for out in ended] == [("done", "Draft 1 of the text.")]


async def test_a_refusal_ends_the_call_of_a_client_in_rounds(tmp_path: Path) -> None:
    host = ScriptedHost(refuses=is_for_the_second_draft)
    async with hosted("memory", "auto", tmp_path, host) as client:
        with pytest.raises(MCPError, match="User rejected"):
            await client.call_tool("improve_text", ARGUMENTS)
        (line,) = data(await client.call_tool("get_thought_history"))["runs"]
        assert line["status"] == "running"
        stopped = data(await client.call_tool("cancel_run", {"run_id": line["run_id"]}))
        assert (stopped["status"], stopped["text"]) == ("cancelled", "Draft 1 of the text.")
        assert stopped["issues"], "what the critics have said is on record"


async def test_a_client_that_leaves_when_asked_has_cancelled_its_run(tmp_path: Path) -> None:
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
