"""A check whose claims the caller judges is kept: its run is all that judgements need."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.server.test_verify_tool import PAINTED, TEXT, TOWER, server, verified, words_of
from tests.stubs.sampling_client import data
from tests.stubs.servers import state_of

pytestmark = pytest.mark.anyio
WRONG_YEAR = {"claim": "2", "verdict": "contradicted", "quote": "It was built in 1889 of iron."}
SILENT = {"claim": "3", "verdict": "not_enough_info"}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[Client]:
    async with Client(server(tmp_path)) as client:
        yield client


def verdicts(out: dict[str, Any]) -> list[str]:
    return [each["verdict"] for each in out["verdicts"]]


async def test_judgements_need_the_run_alone_and_add_up(client: Client) -> None:
    first = await verified(client, text=TEXT, sources=[TOWER])
    assert verdicts(first) == ["supported", "unverified", "unverified"]
    assert f"run_id: {first['run_id']}" in words_of(
        await client.call_tool("verify_evidence", {"run_id": first["run_id"]})
    )
    second = await verified(client, run_id=first["run_id"], judgements=[WRONG_YEAR])
    assert verdicts(second) == ["supported", "contradicted", "unverified"]
    places = [(each["claim"], each["start"], each["end"]) for each in first["verdicts"]]
    assert [(each["claim"], each["start"], each["end"]) for each in second["verdicts"]] == places
    third = await verified(client, run_id=first["run_id"], judgements=[SILENT])
    assert verdicts(third) == ["supported", "contradicted", "not_enough_info"]
    assert (third["run_id"], third["instructions"]) == (first["run_id"], None)
    # A later judgement takes the place of an earlier one.
    changed = {**WRONG_YEAR, "verdict": "not_enough_info"}
    fourth = await verified(client, run_id=first["run_id"], judgements=[changed])
    assert verdicts(fourth) == ["supported", "not_enough_info", "not_enough_info"]


async def test_it_is_there_after_the_server_was_started_again(tmp_path: Path) -> None:
    async with Client(server(tmp_path)) as client:
        first = await verified(client, text=TEXT, sources=[TOWER])
        await verified(client, run_id=first["run_id"], judgements=[WRONG_YEAR])
    async with Client(server(tmp_path)) as client:
        out = await verified(client, run_id=first["run_id"], judgements=[SILENT])
    assert verdicts(out) == ["supported", "contradicted", "not_enough_info"]


async def test_given_claims_and_doubts_are_kept_too(client: Client) -> None:
    claims = ["The tower was begun in 1887.", PAINTED]
    first = await verified(client, claims=claims, sources=[TOWER])
    said = {"claim": "1", "verdict": "supported", "quote": "It was built in 1889 of iron."}
    doubt = await verified(client, run_id=first["run_id"], judgements=[said])
    assert verdicts(doubt) == ["in_doubt", "unverified"]
    assert "'1887'" in doubt["verdicts"][0]["reason"]
    sure = await verified(client, run_id=first["run_id"], judgements=[{**said, "confirmed": True}])
    assert verdicts(sure) == ["supported", "unverified"]
    assert [each["claim"] for each in sure["verdicts"]] == claims


async def test_the_history_shows_it_as_a_run_that_has_ended(client: Client) -> None:
    first = await verified(client, text=TEXT, sources=[TOWER])
    await verified(client, run_id=first["run_id"], judgements=[WRONG_YEAR, SILENT])
    (shown,) = data(await client.call_tool("get_thought_history"))["runs"]
    assert (shown["status"], shown["stop_reason"], shown["passed"]) == (
        "done", "issues_left", False,
    )  # fmt: skip
    evidence = await client.read_resource(f"run://{first['run_id']}/evidence")
    assert "It was built in 1889 of iron." in str(evidence.contents)


async def test_what_was_decided_at_once_is_not_kept(client: Client) -> None:
    out = await verified(client, claims=["The tower is 300 metres tall."], sources=[TOWER])
    assert (verdicts(out), out["run_id"]) == (["supported"], "")
    assert data(await client.call_tool("get_thought_history"))["runs"] == []


async def test_where_nothing_may_be_stored_the_caller_sends_all_again(tmp_path: Path) -> None:
    async with Client(server(tmp_path, read_only=True)) as client:
        first = await verified(client, text=TEXT, sources=[TOWER])
        assert first["run_id"] == ""
        assert "call verify_evidence again with the same text or claims" in first["instructions"]
        assert "the check is not stored" in first["degraded"][-1]
        out = await verified(client, text=TEXT, sources=[TOWER], judgements=[WRONG_YEAR, SILENT])
    assert verdicts(out) == ["supported", "contradicted", "not_enough_info"]


async def test_what_is_no_check_is_refused_and_stays(client: Client) -> None:
    run = data(await client.call_tool("improve_text", {"text": "It is a good day."}))
    for run_id, told in (
        (run["run_id"], "is no check of claims"),
        ("run_000000000000", "run_000000000000"),
    ):
        refused = await client.call_tool("verify_evidence", {"run_id": run_id})
        assert refused.is_error
        assert told in words_of(refused)
    first = await verified(client, text=TEXT, sources=[TOWER])
    wrong = {"run_id": first["run_id"], "judgements": [{"claim": "9", "verdict": "supported"}]}
    refused = await client.call_tool("verify_evidence", wrong)
    assert "no claim is '9'" in words_of(refused)
    again = await verified(client, run_id=first["run_id"])
    assert (verdicts(again), again["run_id"]) == (verdicts(first), first["run_id"])
    revised = await client.call_tool(
        "submit_revision", {"run_id": first["run_id"], "parent_id": "v0", "text": "Other words."}
    )
    assert revised.is_error
    assert "does not wait for a revision" in words_of(revised)


async def test_looking_again_stores_nothing_more(tmp_path: Path) -> None:
    application = server(tmp_path)
    async with Client(application) as client:
        first = await verified(client, text=TEXT, sources=[TOWER])
        before = await state_of(application).store.load(first["run_id"])
        await verified(client, run_id=first["run_id"])
        both = {"run_id": first["run_id"], "text": "Another text."}
        refused = await client.call_tool("verify_evidence", both)
        assert "give run_id and judgements" in words_of(refused)
        assert await state_of(application).store.load(first["run_id"]) == before
