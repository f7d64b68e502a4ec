"""Texts that are longer than a section may be, through an MCP client."""

import json
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
)

from sifaka.text.sections import SECTION_CHARS
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.long_documents import by_sections, document_of_chapters, shown_text
from tests.stubs.provider import Provider, provided
from tests.stubs.sampling_client import (
    ByHand,
    ScriptedHost,
    data,
    is_for_a_writer,
    said,
    text_of,
    words,
)
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio

NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")
TEXT = document_of_chapters(*NAMES)
MODEL = "openai-chat:stub"
MISTAKES = 500


def better(text: str) -> str:
    return text.replace("part tells", "part says")


def judged(text: str) -> Mapping[str, Any]:
    if "part tells" not in text:
        return {"verdict": "accept"}
    return {"verdict": "revise", "issues": [{"quote": "part tells", "message": "write `says`"}]}


@pytest.fixture
def written() -> list[str]:
    return []


@pytest.fixture
def served(written: list[str], monkeypatch: pytest.MonkeyPatch) -> Generator[Provider]:
    with provided(
        by_sections(better, judged, written, frozenset({"Gamma"})), monkeypatch
    ) as served:
        yield served


def parts(result: CallToolResult) -> tuple[str, dict[str, Any]]:
    return text_of(result), data(result)


@pytest.mark.slow
async def test_improve_text_writes_a_long_text_section_by_section(
    client: Client, served: Provider, written: list[str]
) -> None:
    assert len(TEXT) > SECTION_CHARS
    arguments = {"text": TEXT, "model": MODEL, "max_iterations": 1, "return": "text"}
    told, out = parts(await client.call_tool("improve_text", arguments))
    assert sorted(written) == sorted(name for name in NAMES if name != "Gamma")
    kept = TEXT[TEXT.index("## Gamma") : TEXT.index("## Delta")]
    assert out["text"] == better(TEXT).replace(better(kept), kept)
    (line,) = [line for line in out["degraded"] if "[section 3: Gamma] was not written" in line]
    assert line in " ".join(told.split())
    assert out["status"] == "done"
    assert out["usage"]["model_calls"] == len(served.requests)


async def test_what_is_told_as_text_stays_bounded_beside_the_text_itself(client: Client) -> None:
    text = "".join(
        f"## Part {n}\n\nThis is the the {n}th part of the handbook.\n\n" for n in range(MISTAKES)
    )
    arguments = {"text": text, "model": "editor", "return": "text"}
    told, out = parts(await client.call_tool("improve_text", arguments))
    assert out["text"] == text.replace("the the", "the")
    assert len(told) < len(out["text"]) + 10_000


@pytest.mark.slow
async def test_of_many_sections_that_failed_some_are_told_as_text_and_all_as_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"Chapter {n}" for n in range(48)]
    text = document_of_chapters(*names, sentences=100)
    failing = frozenset(names[:44])
    with provided(by_sections(better, judged, [], failing), monkeypatch):
        arguments = {"text": text, "model": MODEL, "max_iterations": 1, "return": "text"}
        async with Client(SifakaServer(Settings(home=tmp_path))) as client:
            told, out = parts(
                await client.call_tool("improve_text", arguments | {"wait_seconds": 300})
            )
    assert out["changed"]
    assert len([line for line in out["degraded"] if "was not written" in line]) == 44
    assert told.count("was not written") == 40
    assert "... and 4 more" in told


class SectionHost(ScriptedHost):
    """A host whose model writes and judges what it is shown."""

    def answer(self, params: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:
        self.asked.append(params)
        text = shown_text(words(params))
        asked = params.system_prompt or ""
        if '"better"' in asked and '"verdict"' not in asked:
            question = words(params)
            says_first = question.index("part says") < question.index("part tells")
            return said(json.dumps({"better": "first" if says_first else "second"}))
        return said(better(text) if is_for_a_writer(params) else json.dumps(judged(text)))


@pytest.mark.slow
async def test_the_host_is_asked_for_all_sections_in_one_round(era: Era, tmp_path: Path) -> None:
    host = SectionHost()
    server = SifakaServer(Settings(home=tmp_path, store="memory:"))
    arguments = {"text": TEXT, "model": "host", "critics": ["self_refine"], "return": "text"}
    if era == "legacy":
        async with Client(server, mode="legacy", sampling_callback=host) as client:
            _, out = parts(await client.call_tool("improve_text", arguments))
    else:
        call = ByHand("improve_text", **arguments)
        async with Client(server, sampling_callback=host) as client:
            out = await call.finish(client, host)
        assert [len(each.input_requests or {}) for each in call.rounds] == [*[len(NAMES)] * 3, 2]
    assert (out["status"], out["text"]) == ("done", better(TEXT))
    assert len(host.asked) == 3 * len(NAMES) + 2 == out["usage"]["model_calls"]
