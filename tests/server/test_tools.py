"""The tools through an MCP client."""

import json
from string import ascii_lowercase
from typing import Any

import pytest
from mcp import Client

from tests.stubs.calls import call, refusal
from tests.stubs.sampling_client import text_of

pytestmark = pytest.mark.anyio

BROKEN = "This is clearly the the wrong form and we should recieve it better ."


async def test_improve_mends_what_needs_no_model(client: Client) -> None:
    out = await call(client, "improve_text", text=BROKEN, model="editor")
    assert out["status"] == "done"
    assert (out["stop_reason"], out["judged_by"]) == ("rules_met", "nobody")
    assert out["text"] == "This is clearly the wrong form and we should receive it better."
    assert out["changed"]
    assert "recieve" in {hunk["before"] for hunk in out["diff"]}
    assert all(hunk["reason"] for hunk in out["diff"])
    assert out["usage"]["model_calls"] == 0
    assert out["usage"]["cost_usd"] == 0


async def test_text_and_data_each_stand_alone(client: Client) -> None:
    result = await client.call_tool(
        "improve_text",
        {
            "text": "one two teh three",
            "validators": [{"type": "length", "min_words": 5}],
            "return": "text",
        },
    )
    text, data = text_of(result), result.structured_content
    assert data is not None
    for needed in (data["run_id"], data["brief"]["parent_id"], "needs_revision", "submit_revision"):
        assert needed in text
    assert data["brief"]["failures"][0]["message"] in text
    assert data["text"] in text


async def test_a_caller_driven_run_from_the_first_brief_to_done(client: Client) -> None:
    rules = [
        {"type": "length", "max_words": 120, "min_words": 60},
        {"type": "content", "required": ["refund policy", "30 days"]},
    ]
    long_text = " ".join(
        f"The shop sells item {c} to many customers." for c in ascii_lowercase[:24]
    )
    waiting = await call(client, "improve_text", text=long_text, validators=rules, effort="quick")
    assert waiting["status"] == "needs_revision"
    assert (waiting["text"], waiting["unchanged"]) == (None, True)
    parent = waiting["brief"]["parent_id"]
    worse = await call(
        client, "submit_revision", run_id=waiting["run_id"], parent_id=parent, text=long_text * 2
    )
    assert (worse["accepted"], worse["status"]) == (False, "needs_revision")
    assert "it fails rules" in worse["brief"]["instructions"]
    good = "Our refund policy gives you 30 days. " + long_text[: long_text.index("item j")]
    good = good.rpartition(".")[0] + "."
    done = await call(
        client,
        "submit_revision",
        run_id=waiting["run_id"],
        parent_id=worse["brief"]["parent_id"],
        text=good,
    )
    assert (done["accepted"], done["status"], done["stop_reason"]) == (True, "done", "passed")
    assert (done["passed"], done["judged_by"]) == (True, "caller")
    history = await call(client, "get_thought_history", run_id=waiting["run_id"])
    assert [t["accepted"] for t in history["thoughts"]] == [True, False, True]
    assert history["thoughts"][1]["reason"] == worse["reason"]


async def test_a_run_that_waits_may_be_ended_by_accepting_the_text(client: Client) -> None:
    rule = {"type": "length", "min_words": 50}
    out = await call(client, "improve_text", text="A short text.", validators=[rule])
    assert (out["status"], out["passed"]) == ("needs_revision", False)
    assert out["checked"] == [
        {"what": "length", "done": True, "reason": None},
        {"what": "lint", "done": True, "reason": None},
        {"what": "meaning", "done": False, "reason": "no model judged it"},
    ]
    ids = {"run_id": out["run_id"], "parent_id": out["brief"]["parent_id"]}
    turned = await call(client, "submit_revision", **ids, text="A text.")
    assert not turned["accepted"]
    assert [each["version"] for each in turned["turned_down"]] == [1]
    wrong = await refusal(client, "submit_revision", **ids, text="Another text.", accept=True)
    assert "leave out `accept` or `text`" in wrong
    done = await call(client, "submit_revision", **ids, accept=True, reason="short is right")
    assert (done["status"], done["stop_reason"], done["passed"]) == ("done", "accepted", False)
    assert [issue["category"] for issue in done["left"]] == ["length"]
    assert done["reason"].endswith("short is right")
    told = await client.call_tool("get_thought_history", {"run_id": done["run_id"]})
    assert "kept as it is: 'short is right'" in text_of(told)


async def test_validate_says_what_fails_where_and_the_fix(client: Client) -> None:
    text = "Our world-class tool is here."
    prohibited = [{"term": "world-class", "replacement": "reliable"}]
    out = await call(
        client,
        "validate_text",
        text=text,
        validators=[
            {"type": "content", "prohibited": prohibited},
            {"type": "length", "max_words": 3, "required": False, "name": "short"},
        ],
    )
    assert not out["passed"]
    content, short = out["results"]
    (issue,) = content["issues"]
    assert text[issue["start"] : issue["end"]] == issue["quote"] == "world-class"
    assert issue["fix"] == "reliable"
    assert (short["validator"], short["required"], short["passed"]) == ("short", False, False)


async def test_critique_text_lists_what_differs_from_an_original(client: Client) -> None:
    texts: dict[str, Any] = {"text": "It costs 6 euros.", "original": "It costs 4 euros."}
    asked = await call(client, "critique_text", **texts)
    pairs = [(each["before"], each["after"], each["status"]) for each in asked["differences"]]
    assert ("4 euros", "6 euros", "open") in pairs
    sources = ["The price is 6 euros."]
    answered = await call(client, "critique_text", **texts, sources=sources)
    assert [each["by"] for each in answered["differences"]] == ["source"]


async def test_critique_without_a_model_gives_issues_and_a_rubric(client: Client) -> None:
    out = await call(client, "critique_text", text=BROKEN, prompt="thank the reader")
    assert out["verdict"] == "revise"
    assert {"recieve"} <= {issue["quote"] for issue in out["issues"]}
    assert "thank the reader" in out["rubric"][0]
    assert out["critiques"][0]["critic"] == "lint"


async def test_history_lists_pages_finds_and_tells(client: Client) -> None:
    for n in range(3):
        await call(client, "improve_text", text=f"A note on the subject of zebra number {n}.")
    first = await call(client, "get_thought_history", limit=2)
    assert len(first["runs"]) == 2
    second = await call(client, "get_thought_history", limit=2, cursor=first["next_cursor"])
    ids = [run["run_id"] for run in first["runs"] + second["runs"]]
    assert len(set(ids)) == 3
    found = await call(client, "get_thought_history", query="zebra")
    assert found["search"].startswith("bm25")
    assert {hit["run_id"] for hit in found["hits"]} == set(ids)
    story = await call(client, "get_thought_history", run_id=ids[0], include_text=True)
    assert story["run"]["status"] == "done"
    assert "zebra" in story["thoughts"][0]["text"]


async def test_a_timeline_is_paged(client: Client) -> None:
    out = await call(client, "improve_text", text=BROKEN, model="editor")
    first = await call(client, "get_thought_history", run_id=out["run_id"], limit=1)
    assert first["next_cursor"] == "1"
    second = await call(client, "get_thought_history", run_id=out["run_id"], cursor="1")
    assert [t["iteration"] for t in second["thoughts"]] == [1]
    assert "next_cursor" not in second or second["next_cursor"] is None


WORDS = [{"type": "length", "max_words": 9}]


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("improve_text", {"text": ""}, "missing: text, source or prompt"),
    ("improve_text", {"text": " \n"}, "no text and no prompt"),
    ("improve_text", {"text": "x" * 5_000_000}, "at most 1,000,000"),
    ("improve_text", {"text": "a\0b"}, "NUL"),
    ("improve_text", {"text": "a", "model": "gpt-5"}, "unknown model 'gpt-5'"),
    ("improve_text", {"text": "a", "effort": "heroic"}, "effort"),
    ("improve_text", {"text": "a", "critics": ["nobody"]}, "lint"),
    ("improve_text", {"text": "a", "budgett": {"max_calls": 1}}, "did you mean 'budget'"),
    ("improve_text", {"text": "a", "max_calls": 1}, "it is an option in 'budget'"),
    ("improve_text", {"text": "a", "max_words": 1}, "it is an option in 'validators'"),
    ("improve_text", {"text": "a", "budget": {"max_call": 1}}, "did you mean 'max_calls'"),
    ("improve_text", {"text": "a", "budget": {"max_calls": -1}}, "max_calls"),
    ("improve_text", {"text": "a", "budget": {"max_cost_usd": "inf"}}, "budget.max_cost_usd"),
    ("improve_text", {"text": "a", "budget": {"max_seconds": "nan"}}, "budget.max_seconds"),
    ("improve_text", {"text": "a", "validators": [{"type": "colour"}]}, "readability"),
    ("validate_text", {"text": "", "validators": WORDS}, "missing: text or source"),
    ("validate_text", {"text": "a", "validators": []}, "no validators"),
    ("validate_text", {"text": "a", "validators": [{"type": "colour"}]}, "length"),
    (
        "validate_text",
        {"text": "a", "validators": [{"type": "length", "min_words": 9, "max_words": 3}]},
        "min_words",
    ),
    (
        "validate_text",
        {"text": "a", "validators": [{"type": "regex", "must_match": ["(unclosed"]}]},
        "(unclosed",
    ),
    ("critique_text", {"text": ""}, "missing: text or source"),
    ("critique_text", {"text": "a", "critics": ["self_refine"]}, "self_refine"),
    ("submit_revision", {"run_id": "run_x", "parent_id": "run_x.0", "text": "a"}, "'run_x'"),
    ("get_thought_history", {"run_id": "run_x"}, "'run_x'"),
    ("get_thought_history", {"cursor": "tampered"}, "cursor"),
    ("get_thought_history", {"limit": 0}, "limit"),
    ("get_thought_history", {"run_id": "run_x", "cursor": "9" * 5000}, "cursor"),
    ("get_thought_history", {"query": "zebra", "cursor": "1"}, "one page"),
    ("validate_text", {"text": "a", "validators": WORDS * 51}, "50"),
    ("improve_text", {"text": "a", "validators": WORDS * 51}, "50"),
    ("improve_text", {"text": "a", "critics": ["lint"] * 21}, "20"),
    ("get_thought_history", {"run_id": "a", "query": "b"}, "exclude"),
    ("cancel_run", {"run_id": "run_x"}, "'run_x'"),
]


async def test_bad_input_is_one_line_that_says_what_to_do_and_stores_nothing(
    client: Client,
) -> None:
    for tool, arguments, expected in BAD:
        message = await refusal(client, tool, **arguments)
        assert expected in message
        assert "\n" not in message
        assert len(message) < 400
        assert "Error executing tool" not in message
    assert (await call(client, "get_thought_history"))["runs"] == []


async def test_a_text_that_is_json_arrives_as_it_was_sent(client: Client) -> None:
    for text in ('{"a": 1}', "[1, 2]", "null", "42", '"quoted"'):
        out = await call(client, "improve_text", text=text, **{"return": "text"})
        assert json.loads(out["text"]) == json.loads(text)


async def test_null_for_an_optional_argument_is_as_if_left_out(client: Client) -> None:
    out = await call(client, "get_thought_history", run_id=None, query=None, cursor=None)
    assert out["runs"] == []
