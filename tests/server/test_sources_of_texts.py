"""Texts that are named: versions, and files of the roots that a client grants."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
    ListRootsResult,
    Root,
    TextResourceContents,
)
from pydantic import FileUrl

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call, refusal
from tests.stubs.provider import fails, provided
from tests.stubs.sampling_client import ScriptedHost, data, said, text_of
from tests.stubs.served import served
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio

TEXT = "This is the the text."
BETTER = "This is the text."


@pytest.fixture
def granted(tmp_path: Path) -> Path:
    folder = tmp_path / "granted folder"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (tmp_path / "secret.txt").write_text("A secret.")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "bytes.txt").write_bytes(b"\xff\xfe")
    (folder / ".env").write_text("KEY=secret")
    (folder / "shown.txt").symlink_to(".env")
    (folder / "loop.txt").symlink_to("loop.txt")
    os.mkfifo(folder / "pipe.txt")
    return folder


class Roots:
    """A client's roots, and how often it was asked for them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.asked = 0

    async def __call__(self, context: ClientRequestContext) -> ListRootsResult:
        del context
        self.asked += 1
        return ListRootsResult(roots=[Root(uri=FileUrl(self._folder.as_uri()))])


def is_comparison(params: CreateMessageRequestParams) -> bool:
    return '"better"' in (params.system_prompt or "")


class Judge(ScriptedHost):
    """A host that finds fault with each text, and one opinion as good as another."""

    def answer(self, params: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:
        self.asked.append(params)
        issue = {"quote": "the the", "message": "twice", "severity": 4}
        opinion = {"verdict": "revise", "issues": [issue]}
        return said(json.dumps({"better": "tie"} if is_comparison(params) else opinion))


async def improved(client: Client, source: str) -> dict[str, Any]:
    return await call(client, "improve_text", source=source, model="editor")


async def test_a_file_of_a_root_is_read(granted: Path, tmp_path: Path, era: Era) -> None:
    file, roots = granted / "a.txt", Roots(granted)
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, mode=era, list_roots_callback=roots) as client:
        for number, source in enumerate((file.as_uri(), str(file)), 1):
            out = await improved(client, source)
            assert (out["text"], out["changed"], roots.asked) == (BETTER, True, number)


async def test_the_rules_of_a_file_s_project_hold(
    granted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (granted / "sifaka.toml").write_text('[check]\nignore = ["repetition"]\n')
    monkeypatch.chdir(tmp_path)
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, list_roots_callback=Roots(granted)) as client:
        assert not (await improved(client, str(granted / "a.txt")))["changed"]
        assert (await call(client, "improve_text", text=TEXT, model="editor"))["text"] == BETTER
        monkeypatch.chdir(granted)  # the folder that a server over stdio was started in
        out = await call(client, "critique_text", text=f"{TEXT} We recieve it.")
        assert [issue["quote"] for issue in out["issues"]] == ["recieve"]
        (granted / "sifaka.toml").write_text('[check]\nignore = ["repetitions"]\n')
        said = await refusal(client, "critique_text", text=TEXT)
        assert "sifaka.toml: check.ignore: unknown rule 'repetitions'" in said


REFUSED: list[tuple[str, str]] = [
    ("../secret.txt", "in no root that the client grants"),
    ("link.txt", "in no root that the client grants"),
    ("nothing.txt", "cannot be read: No such file"),
    ("bytes.txt", "cannot be read: it is not UTF-8"),
    ("", "cannot be read: Is a directory"),
    (".env", "cannot be read: is hidden"),
    ("shown.txt", "cannot be read: is hidden"),
    ("loop.txt", "cannot be read: Too many levels of symbolic links"),
    ("loop.txt/a.txt", "cannot be read: Too many levels of symbolic links"),
    ("pipe.txt", "cannot be read: is no regular file"),
]


async def test_what_is_outside_or_no_text_is_refused(
    granted: Path, tmp_path: Path, era: Era
) -> None:
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, mode=era, list_roots_callback=Roots(granted)) as client:
        for name, said in REFUSED:
            assert said in await refusal(client, "improve_text", source=f"{granted}/{name}")
        assert (await call(client, "get_thought_history"))["runs"] == []


async def test_over_http_no_file_is_read(granted: Path, tmp_path: Path, era: Era) -> None:
    roots = Roots(granted)
    with served(tmp_path) as url:
        async with Client(url, mode=era, list_roots_callback=roots) as client:
            arguments = {"source": str(granted / "a.txt")}
            result = await client.call_tool("improve_text", arguments)
    assert result.is_error
    assert "files are not read for clients over HTTP" in text_of(result)
    assert roots.asked == 0


async def test_a_version_and_the_best_one_of_a_run_are_read(client: Client) -> None:
    arguments = {"text": TEXT, "model": "editor"}
    out = data(await client.call_tool("improve_text", arguments))
    for source in (f"thought://{out['run_id']}.0", f"thought://{out['run_id']}.0/text"):
        assert (await improved(client, source))["text"] == BETTER
    best = await improved(client, f"run://{out['run_id']}")
    assert (best["unchanged"], best["changed"]) == (True, False)
    for unknown in ("thought://run_x.0", f"thought://{out['run_id']}.9", "run://run_x"):
        result = await client.call_tool("improve_text", {"source": unknown})
        assert result.is_error
        assert "no run or thought" in text_of(result)


async def test_what_judges_texts_reads_sources(granted: Path, tmp_path: Path, era: Era) -> None:
    server, roots = SifakaServer(Settings(home=tmp_path)), Roots(granted)
    source = str(granted / "a.txt")
    async with Client(server, mode=era, list_roots_callback=roots) as client:
        rules = [{"type": "content", "required": ["the the"]}]
        checked = await call(client, "validate_text", source=source, validators=rules)
        assert checked["passed"]
        judged = await client.call_tool("critique_text", {"source": source, "critics": ["lint"]})
        assert "the the" in text_of(judged)
        for tool, more in (("validate_text", {"validators": rules}), ("critique_text", {})):
            both = await client.call_tool(tool, {"source": source, "text": "x", **more})
            assert "there are a text and a source" in text_of(both)
            neither = await client.call_tool(tool, dict(more))
            assert "missing: text or source" in text_of(neither)


async def test_a_file_is_judged_by_a_host_that_is_asked_in_several_rounds(
    granted: Path, tmp_path: Path, era: Era
) -> None:
    server, roots, host = SifakaServer(Settings(home=tmp_path)), Roots(granted), Judge()
    arguments = {"source": str(granted / "a.txt"), "critics": [{"type": "meta_rewarding"}]}
    async with Client(
        server, mode=era, list_roots_callback=roots, sampling_callback=host
    ) as client:
        out = data(await client.call_tool("critique_text", arguments))
    opinions = [params for params in host.asked if not is_comparison(params)]
    assert len(host.asked) > len(opinions) > 1
    assert out["verdict"] == "revise"


async def test_a_revision_is_read_from_the_file_that_the_agent_has_edited(
    granted: Path, tmp_path: Path, era: Era
) -> None:
    server, roots, file = SifakaServer(Settings(home=tmp_path)), Roots(granted), granted / "a.txt"
    async with Client(server, mode=era, list_roots_callback=roots) as client:
        rules = [{"type": "content", "required": ["sentence"]}]
        arguments = {"source": str(file), "validators": rules, "effort": "quick", "model": "caller"}
        begun = data(await client.call_tool("improve_text", arguments))
        file.write_text("This is the sentence.")
        place = {"run_id": begun["run_id"], "parent_id": begun["brief"]["parent_id"]}
        given_twice = {**place, "source": str(file), "text": "x"}
        both = await client.call_tool("submit_revision", given_twice)
        assert "there are a text and a source" in text_of(both)
        out = data(await client.call_tool("submit_revision", {**place, "source": str(file)}))
        (kept,) = (await client.read_resource(f"thought://{out['thought_id']}/text")).contents
    assert (out["status"], out["accepted"]) == ("done", True)
    assert isinstance(kept, TextResourceContents)
    assert kept.text == "This is the sentence."


@pytest.mark.slow
async def test_a_revision_from_a_file_is_judged_by_a_host_that_is_asked_in_rounds(
    granted: Path, tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots, host, file = Roots(granted), Judge(), granted / "a.txt"
    settings = Settings(home=tmp_path, judge_model="openai-chat:stub", fallback_models=("host",))
    critics = [{"type": "meta_rewarding", "n": 2}]
    arguments = {"text": "A text.", "model": "caller", "critics": critics, "facts": "off"}
    with provided([fails(401)] * 40, monkeypatch):
        async with Client(
            SifakaServer(settings), mode=era, list_roots_callback=roots, sampling_callback=host
        ) as client:
            begun = data(await client.call_tool("improve_text", arguments))
            host.asked.clear()
            place = {"run_id": begun["run_id"], "parent_id": begun["brief"]["parent_id"]}
            out = data(await client.call_tool("submit_revision", {**place, "source": str(file)}))
    opinions = [params for params in host.asked if not is_comparison(params)]
    assert (out["run_id"], len(opinions)) == (begun["run_id"], 2)
    assert len(host.asked) > len(opinions)
    assert roots.asked == 1 if era == "legacy" else roots.asked > 2, "in each round"


async def test_claims_are_found_in_a_source_too(granted: Path, tmp_path: Path, era: Era) -> None:
    (granted / "a.txt").write_text("The tower is 330 metres high.")
    settings = Settings(home=tmp_path, toolsets=("refine", "evidence"))
    server, roots = SifakaServer(settings), Roots(granted)
    async with Client(server, mode=era, list_roots_callback=roots) as client:
        arguments = {
            "source": str(granted / "a.txt"),
            "sources": [{"text": "The tower is 330 metres high."}],
        }
        out = data(await client.call_tool("verify_evidence", arguments))
    assert "330 metres" in json.dumps(out)
