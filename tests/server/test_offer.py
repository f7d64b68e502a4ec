"""What the server offers besides tools: schemas, resources, prompts, completions."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from sifaka.validators import UNLISTED
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import TOOLSETS, Settings
from sifaka_mcp.tools import tools
from tests.snapshots.write import LISTED, listings, with_schemas
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio

TEXT = "This is the the first version."

CATALOGUES = {"catalogue://validators", "catalogue://critics", "ui://sifaka/run.html"}


async def improved(client: Client) -> dict[str, Any]:
    result = await client.call_tool("improve_text", {"text": TEXT, "model": "editor"})
    assert result.structured_content is not None
    return result.structured_content


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


def test_the_tools_are_listed_as_they_are() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in LISTED.iterdir()}
    assert listings() == kept, "run `make snapshots` when the change is meant"


async def test_a_client_is_sent_every_listed_tool_whole(tmp_path: Path, era: Era) -> None:
    server = SifakaServer(Settings(home=tmp_path, toolsets=tuple(TOOLSETS)))
    async with Client(server, mode=era) as client:
        sent = (await client.list_tools()).tools
    made = tools({*Settings(toolsets=tuple(TOOLSETS)).tools})
    assert sent == [with_schemas(tool) for tool in made]


async def test_the_annotations_are_honest(client: Client) -> None:
    hints = {t.name: t.annotations for t in (await client.list_tools()).tools}
    writes = {name for name, hint in hints.items() if hint and not hint.read_only_hint}
    assert writes == {"improve_text", "submit_revision", "resume_run", "cancel_run"}


async def test_the_instructions_name_the_tools_that_there_are(client: Client) -> None:
    assert client.instructions is not None
    for tool in (await client.list_tools()).tools:
        assert tool.name == "cancel_run" or tool.name in client.instructions


async def test_a_toolset_offers_only_its_tools(tmp_path: Path) -> None:
    server = SifakaServer(Settings(home=tmp_path, toolsets=("recall",)))
    async with Client(server) as client:
        assert [t.name for t in (await client.list_tools()).tools] == ["get_thought_history"]
        with pytest.raises(MCPError):
            await client.call_tool("improve_text", {"text": TEXT})


async def test_a_run_its_versions_and_its_changes_can_be_read(client: Client) -> None:
    out = await improved(client)
    run = json.loads(await read(client, f"run://{out['run_id']}"))
    assert run["run"]["champion_id"] == out["thought_id"]
    assert [t["iteration"] for t in run["thoughts"]] == [0, 1]
    thought = json.loads(await read(client, f"thought://{out['thought_id']}"))
    assert thought["text"] == out["text"]
    changes = await read(client, f"run://{out['run_id']}/diff")
    opened, *lines, closed = changes.splitlines()
    assert lines == ["This is[- the-] the first version."]
    assert closed == opened.replace("<", "</"), "marks that their words cannot foresee"


async def test_recent_runs_are_listed_as_resources(client: Client) -> None:
    before = {each.uri for each in (await client.list_resources()).resources}
    assert before == CATALOGUES
    out = await improved(client)
    (listed,) = [r for r in (await client.list_resources()).resources if r.uri not in before]
    assert (listed.uri, listed.title) == (f"run://{out['run_id']}", out["text"])
    assert listed.description == "A run: done, versions: 2"
    assert json.loads(await read(client, listed.uri))["run"]["run_id"] == out["run_id"]


async def test_a_store_that_is_away_leaves_the_catalogues_listed(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, store="redis://127.0.0.1:1/0")
    async with Client(SifakaServer(settings)) as client:
        listed = {each.uri for each in (await client.list_resources()).resources}
    assert listed == CATALOGUES


@pytest.mark.parametrize(
    "uri",
    [
        "run://run_x",
        "run://run_x/diff",
        "run://run_x/evidence",
        "thought://run_x.0",
        "thought://nothing",
    ],
)
async def test_unknown_addresses_are_refused_in_one_line(client: Client, uri: str) -> None:
    with pytest.raises(MCPError) as error:
        await client.read_resource(uri)
    assert error.value.error.code == -32602
    assert "no run or thought" in error.value.error.message


async def test_the_catalogues_list_what_can_be_asked_for(client: Client) -> None:
    validators = await read(client, "catalogue://validators")
    assert "max_words" in validators
    assert set(json.loads(validators)["others"]) == UNLISTED
    assert "checker" not in validators, "that is no option"
    assert set(json.loads(await read(client, "catalogue://critics"))) >= {"lint", "self_refine"}


async def test_prompts_tell_which_tools_to_use(client: Client) -> None:
    assert {p.name for p in (await client.list_prompts()).prompts} == {"refine", "review"}
    prompt = await client.get_prompt("refine", {"text": TEXT, "goal": "be brief"})
    (message,) = prompt.messages
    assert isinstance(message.content, TextContent)
    for expected in (TEXT, "be brief", "improve_text", "submit_revision"):
        assert expected in message.content.text


async def test_an_unknown_name_is_answered_with_those_there_are(client: Client) -> None:
    with pytest.raises(MCPError) as error:
        await client.call_tool("improv_text", {})
    assert "did you mean 'improve_text'? known: improve_text, submit_revision" in str(error.value)
    with pytest.raises(MCPError) as error:
        await client.get_prompt("refin", {})
    assert "did you mean 'refine'? known: refine, review" in str(error.value)


@pytest.mark.parametrize(
    ("name", "arguments"), [("refine", {}), ("nobody", {}), ("review", {"text": "a", "x": "y"})]
)
async def test_a_wrong_prompt_is_refused(
    client: Client, name: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(MCPError) as error:
        await client.get_prompt(name, arguments)
    assert error.value.error.code == -32602
    assert "\n" not in error.value.error.message


async def test_ids_and_names_are_completed(client: Client) -> None:
    out = await improved(client)
    runs = await client.complete(
        ResourceTemplateReference(uri="run://{run_id}"), {"name": "run_id", "value": "run_"}
    )
    assert runs.completion.values == [out["run_id"]]
    thoughts = await client.complete(
        ResourceTemplateReference(uri="thought://{thought_id}"),
        {"name": "thought_id", "value": out["run_id"]},
    )
    assert out["thought_id"] in thoughts.completion.values
    critics = await client.complete(
        PromptReference(name="review"), {"name": "critic", "value": "l"}
    )
    assert critics.completion.values == ["lint"]
