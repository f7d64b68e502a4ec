"""How much of a text an answer repeats, how large it gets, and revisions given as changes."""

import json
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, ResourceLink, TextResourceContents

from sifaka.record.diff import Edit, edited
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.schemas.runs import LONG, SHORT
from sifaka_mcp.settings import Settings
from sifaka_mcp.tools.answer import LARGEST, within
from tests.stubs.calls import call, refusal
from tests.stubs.sampling_client import data, text_of

pytestmark = pytest.mark.anyio


SENTENCES = [f"The keeper of house number {n} counts the boats of the river." for n in range(120)]
CLEAN = "\n".join(SENTENCES)
BROKEN = CLEAN.replace("number 7 counts the", "number 7 counts the the")
RULE = {"type": "content", "required": ["harbour master"]}
REQUIRED = ("number 40 counts", "number 40, the harbour master, counts")


async def answered(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result


def applied(diff: list[dict[str, str]], text: str) -> str:
    return edited(text, [Edit(find=each["before"], replace=each["after"]) for each in diff])


async def test_a_text_that_did_not_change_is_not_repeated(client: Client) -> None:
    result = await answered(client, "improve_text", text="A clean text is here.")
    out = data(result)
    assert (out["text"], out["unchanged"], out["diff"], out["changed"]) == (None, True, [], False)
    assert "A clean text is here." not in text_of(result)
    assert "text: as you have it" in text_of(result)


async def test_a_short_text_that_changed_is_given_whole_with_its_changes(client: Client) -> None:
    out = await call(client, "improve_text", text="This is the the text.", model="editor")
    assert (out["text"], out["unchanged"]) == ("This is the text.", False)
    assert len(out["diff"]) == 1


async def test_of_a_longer_text_the_changes_are_given_if_shorter(client: Client) -> None:
    assert len(BROKEN) > LONG > SHORT
    result = await answered(client, "improve_text", text=BROKEN, model="editor")
    out = data(result)
    assert (out["text"], out["unchanged"], out["changed"]) == (None, False, True)
    assert applied(out["diff"], BROKEN) == CLEAN
    assert all(BROKEN.count(each["before"]) == 1 for each in out["diff"])
    assert len(text_of(result)) < len(BROKEN) / 4
    for each in out["diff"]:
        assert json.dumps(each["before"]) in text_of(result)


async def test_a_long_text_that_is_new_stands_in_one_part_alone(client: Client) -> None:
    broken = "\n".join(f"{line} {line.replace('the', 'the the')}" for line in SENTENCES)
    result = await answered(client, "improve_text", text=broken, model="editor")
    out = data(result)
    assert out["text"] is not None
    assert len(out["text"]) < len(broken)
    (_, link) = result.content
    assert isinstance(link, ResourceLink)
    assert link.uri == out["text_uri"] == f"thought://{out['thought_id']}/text"
    assert link.size == len(out["text"].encode())
    assert out["text"] not in text_of(result)
    assert len(text_of(result)) < 10_000
    (read,) = (await client.read_resource(out["text_uri"])).contents
    assert isinstance(read, TextResourceContents)
    assert read.text == out["text"]
    again = await answered(client, "resume_run", run_id=out["run_id"], **{"return": "text"})
    assert out["text"] in text_of(again), "a host that shows only the words gets it this way"


@pytest.mark.parametrize(
    ("wanted", "has_text", "changes"), [("text", True, 0), ("diff", False, 1), ("none", False, 0)]
)
async def test_the_caller_may_say_how_it_wants_the_text(
    client: Client, wanted: str, has_text: bool, changes: int
) -> None:
    asked = {"text": "This is the the text.", "model": "editor", "return": wanted}
    result = await answered(client, "improve_text", **asked)
    out = data(result)
    assert (out["text"] == "This is the text.", len(out["diff"])) == (has_text, changes)
    assert ("This is the text." in text_of(result)) == has_text
    if wanted == "diff":
        assert applied(out["diff"], "This is the the text.") == "This is the text."


async def test_a_misspelt_way_is_refused_with_those_there_are(client: Client) -> None:
    said = await refusal(client, "improve_text", text="A text.", **{"return": "txt"})
    assert "return: should be 'auto', 'text', 'diff' or 'none', not 'txt'" in said


async def test_a_revision_may_be_given_as_edits(client: Client) -> None:
    out = await call(client, "improve_text", text=CLEAN, validators=[RULE], effort="quick")
    ids = {"run_id": out["run_id"], "parent_id": out["brief"]["parent_id"]}
    worse = [{"find": "number 3 counts", "replace": "number 4000 counts"}]
    turned_down = await call(client, "submit_revision", **ids, edits=worse)
    assert (turned_down["accepted"], turned_down["unchanged"]) == (False, True)
    edits = [  # of the version that was handed in last
        {"find": REQUIRED[0], "replace": REQUIRED[1]},
        {"find": "number 4000 counts", "replace": "number 3 counts"},
    ]
    done = await call(client, "submit_revision", **ids, edits=edits)
    assert (done["accepted"], done["status"]) == (True, "done")
    assert len(done["diff"]) == 2, "what differs from the version that was edited"
    once_more = await call(client, "submit_revision", **ids, edits=edits)
    assert once_more["thought_id"] == done["thought_id"], "taken once, answered twice"
    (read,) = (await client.read_resource(done["text_uri"])).contents
    assert isinstance(read, TextResourceContents)
    assert read.text == CLEAN.replace(*REQUIRED)


async def test_changes_that_do_not_fit_are_refused_and_the_run_waits(client: Client) -> None:
    out = await call(client, "improve_text", text=CLEAN, validators=[RULE])
    ids = {"run_id": out["run_id"], "parent_id": out["brief"]["parent_id"]}
    twice = [{"find": "the boats", "replace": "the ships"}]
    said = await refusal(client, "submit_revision", **ids, edits=twice)
    assert f"edits[0].find 'the boats' occurs {len(SENTENCES)} times" in said
    said = await refusal(client, "submit_revision", **ids, edits=twice, text=CLEAN)
    assert "give one of `text` and `edits`" in said
    unknown = {**ids, "parent_id": f"{out['run_id']}.9"}
    said = await refusal(client, "submit_revision", **unknown, edits=twice)
    assert ids["parent_id"] in said, "the version to revise is named"
    history = await call(client, "get_thought_history", run_id=out["run_id"])
    assert (history["run"]["status"], len(history["thoughts"])) == ("needs_revision", 1)


MANY = " ".join(f"wrd{n}x saw the the" for n in range(1500))


def size(data: dict[str, Any]) -> int:
    return len(json.dumps(data, ensure_ascii=False)) - len(json.dumps(data.get("text")))


async def test_what_is_wrong_in_one_way_at_many_places_is_one_issue_with_its_places() -> None:
    text = "Teh meeting is on Monday. " * 58
    async with Client(SifakaServer(Settings(store="memory:"))) as client:
        out = await call(client, "critique_text", text=text)
        rules = [{"type": "regex", "must_not_match": ["meeting"]}]
        checked = await call(client, "validate_text", text=text, validators=rules)
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
        out = await call(client, "improve_text", text=MANY, validators=rules)
        for n in range(3):
            text = MANY.replace("the the", f"the {n}")
            handed = {"run_id": out["run_id"], "parent_id": out["brief"]["parent_id"]}
            out = await call(client, "submit_revision", **handed, text=text, reason="numbers")
            if out["brief"] is None:
                break
        seen: list[int] = []
        cursor: str | None = ""
        while cursor is not None:
            page = await call(client, "get_thought_history", run_id=out["run_id"], cursor=cursor)
            assert size(page) <= LARGEST
            seen += [each["iteration"] for each in page["thoughts"]]
            cursor = page["next_cursor"]
    assert seen == list(range(out["iterations"] + 1))
    assert len(seen) > 1


@pytest.mark.parametrize("tool", ["critique_text", "validate_text"])
async def test_issues_are_paged_and_each_is_told_once_in_data_and_in_words(tool: str) -> None:
    nouns = (
        *("apple", "bridge", "candle", "desert", "engine", "feather", "garden", "hammer", "island"),
        *("jacket", "kitchen", "ladder", "market", "needle", "orchard", "pencil", "quarry"),
        *("river", "saddle", "table", "umbrella", "valley", "window", "yard", "zebra", "anchor"),
        *("basket", "carpet", "dragon", "elbow", "forest", "guitar", "harbour", "insect", "jungle"),
        *("kettle", "lemon", "meadow", "nest", "ocean", "palace", "rabbit", "school", "tunnel"),
        *("uncle", "village", "wagon", "yacht", "acorn", "barrel"),
    )
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
            words = text_of(result)
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
