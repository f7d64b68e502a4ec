"""How much of a text an answer repeats, and revisions that are given as changes."""

import json
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, ResourceLink, TextContent, TextResourceContents

from sifaka.record.diff import Edit, edited
from sifaka_mcp.schemas.runs import LONG, SHORT

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


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return data(await answered(client, tool, **arguments))


def data(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return words(result)


def words(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


def applied(diff: list[dict[str, str]], text: str) -> str:
    return edited(text, [Edit(find=each["before"], replace=each["after"]) for each in diff])


async def test_a_text_that_did_not_change_is_not_repeated(client: Client) -> None:
    result = await answered(client, "improve_text", text="A clean text is here.")
    out = data(result)
    assert (out["text"], out["unchanged"], out["diff"], out["changed"]) == (None, True, [], False)
    assert "A clean text is here." not in words(result)
    assert "text: as you have it" in words(result)


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
    assert len(words(result)) < len(BROKEN) / 4
    for each in out["diff"]:
        assert json.dumps(each["before"]) in words(result)


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
    assert out["text"] not in words(result)
    assert len(words(result)) < 10_000
    (read,) = (await client.read_resource(out["text_uri"])).contents
    assert isinstance(read, TextResourceContents)
    assert read.text == out["text"]
    again = await answered(client, "resume_run", run_id=out["run_id"], **{"return": "text"})
    assert out["text"] in words(again), "a host that shows only the words gets it this way"


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
    assert ("This is the text." in words(result)) == has_text
    if wanted == "diff":
        assert applied(out["diff"], "This is the the text.") == "This is the text."


async def test_a_misspelt_way_is_refused_with_those_there_are(client: Client) -> None:
    said = await refused(client, "improve_text", text="A text.", **{"return": "txt"})
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
    said = await refused(client, "submit_revision", **ids, edits=twice)
    assert f"edits[0].find 'the boats' occurs {len(SENTENCES)} times" in said
    said = await refused(client, "submit_revision", **ids, edits=twice, text=CLEAN)
    assert "give one of `text` and `edits`" in said
    unknown = {**ids, "parent_id": f"{out['run_id']}.9"}
    said = await refused(client, "submit_revision", **unknown, edits=twice)
    assert ids["parent_id"] in said, "the version to revise is named"
    history = await call(client, "get_thought_history", run_id=out["run_id"])
    assert (history["run"]["status"], len(history["thoughts"])) == ("needs_revision", 1)
