"""How large an answer gets: the rest of a long one is on the next page, or told to be there."""

import json
from typing import Any

import pytest
from mcp import Client
from mcp_types import TextContent

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from sifaka_mcp.tools.answer import LARGEST, within

pytestmark = pytest.mark.anyio

MANY = " ".join(f"wrd{n}x is is" for n in range(3000))


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


def size(data: dict[str, Any]) -> int:
    return len(json.dumps(data, ensure_ascii=False)) - len(json.dumps(data.get("text")))


async def test_what_is_wrong_in_one_way_at_many_places_is_one_issue_with_its_places() -> None:
    text = "Teh meeting is on Monday. " * 58
    async with Client(SifakaServer(Settings(store="memory:"))) as client:
        out = await told(client, "critique_text", text=text)
        rules = [{"type": "regex", "must_not_match": ["meeting"]}]
        checked = await told(client, "validate_text", text=text, validators=rules)
    (issue,) = [each for each in out["issues"] if each["quote"] == "Teh"]
    assert len(issue["places"]) == 58
    assert {text[start:end] for start, end in issue["places"]} == {"Teh"}
    assert [issue["start"], issue["end"]] == issue["places"][0]
    (found,) = checked["results"][0]["issues"]
    assert len(found["places"]) == 58


@pytest.mark.slow
async def test_the_versions_of_a_run_are_paged_by_their_size_and_none_is_lost() -> None:
    rules = [{"type": "length", "max_words": 4}]
    async with Client(SifakaServer(Settings(store="memory:"))) as client:
        out = await told(client, "improve_text", text=MANY, validators=rules)
        for n in range(3):
            text = MANY.replace("is is", f"is {n}")
            handed = {"run_id": out["run_id"], "parent_id": out["brief"]["parent_id"]}
            out = await told(client, "submit_revision", **handed, text=text, reason="numbers")
            if out["brief"] is None:
                break
        seen: list[int] = []
        cursor: str | None = ""
        while cursor is not None:
            page = await told(client, "get_thought_history", run_id=out["run_id"], cursor=cursor)
            assert size(page) <= LARGEST
            seen += [each["iteration"] for each in page["thoughts"]]
            cursor = page["next_cursor"]
    assert seen == list(range(out["iterations"] + 1))
    assert len(seen) > 1


@pytest.mark.parametrize("tool", ["critique_text", "validate_text"])
async def test_issues_are_paged_and_each_is_told_once_in_data_and_in_words(tool: str) -> None:
    nouns = [
        "apple",
        "bridge",
        "candle",
        "desert",
        "engine",
        "feather",
        "garden",
        "hammer",
        "island",
        "jacket",
        "kitchen",
        "ladder",
        "market",
        "needle",
        "orchard",
        "pencil",
        "quarry",
        "river",
        "saddle",
        "table",
        "umbrella",
        "valley",
        "window",
        "yard",
        "zebra",
        "anchor",
        "basket",
        "carpet",
        "dragon",
        "elbow",
        "forest",
        "guitar",
        "harbour",
        "insect",
        "jungle",
        "kettle",
        "lemon",
        "meadow",
        "nest",
        "ocean",
        "palace",
        "rabbit",
        "school",
        "tunnel",
        "uncle",
        "village",
        "wagon",
        "yacht",
        "acorn",
        "barrel",
    ]
    text = " ".join(
        f"The {noun} {noun} was there. Wrod{n} teh{n} {n} {'x' * 900}."
        for n, noun in enumerate(nouns)
    )
    rules = [
        {"type": "regex", "must_not_match": [r"Wrod\d+", r"\d+ x{900}"]},
        {"type": "regex", "must_not_match": [r"teh\d+"], "name": "teh"},
    ]
    arguments: dict[str, Any] = {"text": text} | (
        {"validators": rules} if tool == "validate_text" else {}
    )
    seen: list[str] = []
    pages, cursor = 0, ""
    async with Client(SifakaServer(Settings(store="memory:"))) as client:
        while True:
            result = await client.call_tool(tool, {**arguments, "cursor": cursor})
            page = result.structured_content
            assert page is not None, result.content
            pages += 1
            assert size(page) <= LARGEST
            issues = [issue for part in page.get("results", [page]) for issue in part["issues"]]
            assert isinstance(result.content[0], TextContent)
            words = result.content[0].text
            assert "left out" not in words
            assert words.count("severity") == len(issues)
            seen += [issue["quote"] for issue in issues]
            if page["next_cursor"] is None:
                break
            cursor = page["next_cursor"]
            assert f"more: cursor={cursor!r}" in words
    assert pages > 1
    assert len(seen) == len(set(seen))
    assert len(seen) > 45
    if tool == "validate_text":
        assert len(seen) == 150
        assert pages > 150 / 40  # long quotes leave room for fewer


async def test_a_cursor_that_no_answer_has_given_is_an_error() -> None:
    async with Client(SifakaServer(Settings(store="memory:"))) as client:
        result = await client.call_tool("critique_text", {"text": MANY, "cursor": "page 2"})
        beyond = await client.call_tool("critique_text", {"text": MANY, "cursor": "90000"})
    assert result.is_error
    assert "pass next_cursor as it was given" in str(result.content)
    assert beyond.structured_content is not None
    assert "rules found nothing" not in str(beyond.content)
    assert (beyond.structured_content["issues"], beyond.structured_content["next_cursor"]) == (
        [],
        None,
    )


def test_the_ends_of_the_longest_lists_are_left_out_and_told() -> None:
    data: dict[str, Any] = {
        "text": "t" * 50_000,
        "few": ["kept"],
        "issues": [{"quote": "q" * 90, "n": n} for n in range(900)],
        "diff": [{"before": "b" * 5_000}],
    }
    kept, lines = within(data)
    assert size(kept) <= LARGEST
    assert kept["text"] == "t" * 50_000
    assert kept["few"] == ["kept"]
    assert [each["n"] for each in kept["issues"]] == list(range(len(kept["issues"])))
    assert len(kept["issues"]) > 200
    assert len(kept["diff"][0]["before"]) == 1_000
    left = 900 - len(kept["issues"])
    assert lines == (f"issues: {left} more are left out, as the answer would be too large",)
    assert within({"text": "t" * 50_000, "few": []}) == ({"text": "t" * 50_000, "few": []}, ())
