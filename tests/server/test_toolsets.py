"""What a server offers: toolsets, plugins, schemas, resources, prompts, completions."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from sifaka.chain import Chain
from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.validators import UNLISTED
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import READING, TOOLSETS, Settings
from sifaka_mcp.settings.sources import load_settings
from sifaka_mcp.stores.catalogue import ReadOnlyStore
from sifaka_mcp.tools import tools
from tests.snapshots.write import LISTED, listings, with_schemas
from tests.stubs.calls import call, refusal
from tests.stubs.commands import ROOT
from tests.stubs.servers import Era, stdio_server

pytestmark = pytest.mark.anyio


PACKAGES = Path(__file__).parent.parent / "plugin_package"
TEXT = "This is the the first version."


def read_only(home: Path, **settings: object) -> Settings:
    return Settings.model_validate({"home": home, "read_only": True, **settings})


async def stored_run(home: Path) -> Run:
    store = SQLiteStorage(home / "sifaka.db")
    try:
        return (await Chain(model="editor", store=store).run(text=TEXT)).run
    finally:
        await store.aclose()


def test_the_reading_tools_are_those_that_say_so_of_themselves() -> None:
    every = tools([name for names in TOOLSETS.values() for name in names])
    hints = {tool.name: tool.listed.annotations for tool in every}
    says_so = {name for name, hint in hints.items() if hint and hint.read_only_hint}
    assert says_so == READING


@pytest.mark.parametrize(
    ("settings", "offered"),
    [
        ({"toolsets": ("recall",)}, {"get_thought_history"}),
        ({"toolsets": ("refine", "recall")}, set(TOOLSETS["refine"])),
        ({"toolsets": ("evidence",)}, {*TOOLSETS["evidence"]}),
        ({"toolsets": ("research",)}, set(TOOLSETS["research"])),
        ({"toolsets": ("refine", "evidence")}, {*TOOLSETS["refine"], *TOOLSETS["evidence"]}),
        ({"read_only": True}, READING & {*TOOLSETS["refine"]}),
        ({"toolsets": ("refine", "evidence"), "read_only": True}, set(READING)),
        ({"toolsets": ("recall",), "read_only": True}, {"get_thought_history"}),
    ],
)
async def test_tools_instructions_and_prompts_fit_each_other(
    tmp_path: Path, settings: dict[str, object], offered: set[str]
) -> None:
    server = SifakaServer(Settings.model_validate({"home": tmp_path, **settings}))
    async with Client(server) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == offered
        told = client.instructions or ""
        known = {name for names in TOOLSETS.values() for name in names}
        assert {name for name in known if name in told} == offered - {"cancel_run"}
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert ("refine" in prompts) == ("improve_text" in offered)
        assert ("review" in prompts) == ("critique_text" in offered)
        critics = await client.complete(
            PromptReference(name="review"), {"name": "critic", "value": "li"}
        )
        assert critics.completion.values == (["lint"] if "critique_text" in offered else [])
        for name in known - offered:
            setting = "SIFAKA_TOOLSETS=|SIFAKA_READ_ONLY"
            with pytest.raises(MCPError, match=f"Unknown tool: {name}; .*({setting})"):
                await client.call_tool(name, {})
        with pytest.raises(MCPError, match="Unknown tool: no_tool; known: "):
            await client.call_tool("no_tool", {})


async def test_a_read_only_server_reads_and_leaves_the_store_as_it_is(tmp_path: Path) -> None:
    run = await stored_run(tmp_path)
    before = await entries(tmp_path)
    async with Client(SifakaServer(read_only(tmp_path))) as client:
        history = await client.call_tool("get_thought_history", {"run_id": run.run_id})
        assert not history.is_error
        await client.call_tool("get_thought_history", {"query": "first"})
        checked = await client.call_tool(
            "validate_text", {"text": TEXT, "validators": [{"type": "length", "max_words": 3}]}
        )
        assert (checked.structured_content or {})["passed"] is False
        judged = await client.call_tool("critique_text", {"text": TEXT})
        assert (judged.structured_content or {})["verdict"] == "revise"
        (content,) = (await client.read_resource(f"run://{run.run_id}/diff")).contents
        assert isinstance(content, TextResourceContents)
        assert "[-" in content.text
    assert await entries(tmp_path) == before


async def entries(home: Path) -> dict[str, int]:
    store = SQLiteStorage(home / "sifaka.db")
    try:
        runs = (await store.recent(limit=100)).runs
        return {each.run_id: (await store.load(each.run_id)).version for each in runs}
    finally:
        await store.aclose()


async def test_a_read_only_store_refuses_whatever_would_change_it() -> None:
    kept = MemoryStorage()
    started = Started()
    run = Run.start(started)
    await kept.append(run, [started], expected_version=0)
    store = ReadOnlyStore(kept)
    draft = Drafted(thought=Thought(run_id=run.run_id, text="a"))
    for view in (store, store.scoped("default")):
        with pytest.raises(StorageError, match="read-only"):
            await view.append(run.apply(draft), [draft], expected_version=1)
        with pytest.raises(StorageError, match="read-only"):
            await view.claim(run.run_id)
        with pytest.raises(StorageError, match="read-only"):
            await view.delete(run.run_id)
        assert await view.load(run.run_id) == run
        assert await view.catch_up() == 0
    assert (await kept.load(run.run_id)).version == 1


async def test_an_allowed_plugin_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(PACKAGES), *sys.path])
    settings = Settings(home=tmp_path, plugins=("acme-critics",))
    try:
        async with Client(SifakaServer(settings)) as client:
            critics = json.loads(await read(client, "catalogue://critics"))
            assert critics["acme_tone"] == "Of the package Acme_Critics."
            validators = json.loads(await read(client, "catalogue://validators"))
            assert "acme_lines" in validators["plugins"]
            completed = await client.complete(
                PromptReference(name="review"), {"name": "critic", "value": "acme_t"}
            )
            assert completed.completion.values == ["acme_tone"]
            assert "acme_critics" not in sys.modules
            lines = {"type": "acme_lines", "most": 1}
            checked = await client.call_tool(
                "validate_text", {"text": "a\nb", "validators": [lines]}
            )
            assert (checked.structured_content or {})["passed"] is False
            arguments = {
                "text": "A polite text.",
                "validators": [lines],
                "critics": [{"type": "acme_tone"}],
            }
            answer = await client.call_tool("improve_text", arguments)
            improved: dict[str, Any] = answer.structured_content or {}
            assert improved["status"] == "done"
            resumed = await client.call_tool("resume_run", {"run_id": improved["run_id"]})
            assert (resumed.structured_content or {})["status"] == "done"
    finally:
        sys.modules.pop("acme_critics", None)


REFUSED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("validate_text", {"validators": [{"type": "acme_lines", "most": 1}]}),
    ("improve_text", {"validators": [{"type": "acme_lines", "most": 1}]}),
    ("improve_text", {"critics": ["acme_tone"]}),
    ("critique_text", {"critics": ["acme_tone"]}),
)


@pytest.mark.slow
async def test_a_plugin_that_is_not_allowed_is_refused_by_a_real_server(tmp_path: Path) -> None:
    path = os.pathsep.join(map(str, (ROOT, ROOT / "server", PACKAGES)))
    async with Client(stdio_server(tmp_path, PYTHONPATH=path)) as client:
        for tool, arguments in REFUSED:
            told = await refusal(client, tool, text=TEXT, **arguments)
            assert "which is not allowed" in told
            assert "\n" not in told


def test_a_store_of_a_plugin_is_named_by_its_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(PACKAGES), *sys.path])
    allowed = {"SIFAKA_PLUGINS": "acme-critics", "SIFAKA_STORE": "acme:x"}
    try:
        assert isinstance(load_settings(allowed).open_store(), MemoryStorage)
    finally:
        sys.modules.pop("acme_critics", None)
    with pytest.raises(ConfigurationError, match="SIFAKA_STORE: store 'acme' is of the package"):
        load_settings({"SIFAKA_STORE": "acme:x"})


CATALOGUES = {"catalogue://validators", "catalogue://critics", "ui://sifaka/run.html"}


async def improved(client: Client) -> dict[str, Any]:
    return await call(client, "improve_text", text=TEXT, model="editor")


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
