"""`research`: a question, answered from sources by a run, through an MCP client."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import CreateMessageRequestParams, CreateMessageResult, TextContent

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call, refusal
from tests.stubs.provider import Gate, Reply, calls, provided
from tests.stubs.research_answers import ResearchAnswers, Topic, asked_of, form_of, question_of
from tests.stubs.sampling_client import said as says
from tests.stubs.sampling_client import words
from tests.stubs.servers import Era, let_go

pytestmark = pytest.mark.anyio

QUESTION = "Give a report on the lamps of the coast."
OIL = Topic(title="Oil", query="oil lamps", quote="Oil lamps burned from 1811.")
GAS = Topic(title="Gas", query="gas lamps", quote="Gas lamps came in 1884.")
PAGES = {
    "oil.md": f"# Oil lamps\n\n{OIL.quote} They stood on every quay.\n",
    "gas.md": f"# Gas lamps\n\n{GAS.quote} They needed a works of their own.\n",
    "fish.md": "# Fish\n\nThe harbour sells fish.\n",
}
RESEARCHED = {"mode", "partial", "sections", "references", "stop_reasons"}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    return folder


def settings(home: Path, pages: Path, **more: Any) -> Settings:
    given = {"toolsets": ("research",), "adapters": (f"docs=folder:{pages}",), **more}
    return Settings.model_validate({"home": home, **given})


@pytest.fixture
async def client(era: Era, tmp_path: Path, pages: Path) -> AsyncIterator[Client]:
    async with Client(SifakaServer(settings(tmp_path, pages)), mode=era) as client:
        yield client


@pytest.mark.slow
async def test_without_a_model_it_answers_with_evidence_and_takes_a_report(client: Client) -> None:
    waiting = await call(client, "research", question=QUESTION, mode="deep")
    assert (waiting["status"], waiting["passed"]) == ("needs_revision", False)
    assert OIL.quote in waiting["text"]
    assert "_To be written._" in waiting["text"]
    research = waiting["research"]
    assert set(research) == RESEARCHED
    assert (research["mode"], research["partial"]) == ("deep", False)
    assert {section["status"] for section in research["sections"]} == {"done"}
    assert [r["n"] for r in research["references"]] == [*range(1, len(research["references"]) + 1)]
    assert all(r["adapter"] == "docs" and r["retrieved_at"] for r in research["references"])
    (failure,) = waiting["brief"]["failures"]
    assert "is still to be written" in failure["message"]

    run = {"run_id": waiting["run_id"], "parent_id": waiting["brief"]["parent_id"]}
    unresolved = waiting["text"].replace("_To be written._", "It is so [99].")
    bad = await call(client, "submit_revision", text=unresolved, **run)
    assert bad["status"] == "needs_revision"
    assert "[99] has no entry under References" in json.dumps(bad["brief"])
    good = waiting["text"].replace("_To be written._", "It is so [1].")
    run["parent_id"] = bad["brief"]["parent_id"]
    done = await call(client, "submit_revision", text=good, **run)
    assert (done["accepted"], done["status"], done["passed"]) == (True, "done", True)
    assert done["research"] == research
    assert (await call(client, "resume_run", run_id=run["run_id"]))["research"] == research


async def test_text_and_data_each_stand_alone(client: Client) -> None:
    result = await client.call_tool("research", {"question": QUESTION, "mode": "deep"})
    data, (content,) = result.structured_content, result.content
    assert data is not None
    assert isinstance(content, TextContent)
    text = content.text
    for section in data["research"]["sections"]:
        assert f"{section['title']!r}: done" in text
    for reference in data["research"]["references"]:
        assert f"[{reference['n']}] {reference['title']!r}" in text
    for needed in (data["run_id"], data["brief"]["parent_id"], "submit_revision", data["text"]):
        assert needed in text


BAD: list[tuple[dict[str, Any], str]] = [
    ({"question": " \n"}, "the question is empty"),
    ({"question": "why " * 100_000}, "the question has 399,999 characters"),
    ({"question": "x", "adapters": ["wiki"]}, "unknown adapter 'wiki' — configured: docs"),
    ({"question": "x", "mode": "wide"}, "mode: should be 'iterative', 'deep' or 'auto'"),
    ({"question": "x", "history": [{"role": "system", "text": "x"}]}, "history[0].role"),
    ({"question": "x", "history": [{"role": "user", "text": "a\0b"}]}, "history[0].text"),
    ({"question": "x", "max_sections": 0}, "max_sections"),
    ({"question": "x", "max_iterations": 21}, "max_iterations"),
    ({"question": "x", "budget": {"max_seconds": 0}}, "budget.max_seconds"),
    ({"question": "x", "section_budget": {"max_calls": -1}}, "section_budget.max_calls"),
    ({"question": "x", "model": "editor"}, "the editor cannot research"),
    ({"question": "x", "model": "gpt-5"}, "unknown model 'gpt-5'"),
    ({"question": "a\0b"}, "NUL"),
    ({"question": "x", "validators": [{"type": "colour"}]}, "colour"),
    (
        {"question": "x", "model": "test", "budget": {"max_calls": 0}},
        "budget.max_calls=0 leaves no call to a model",
    ),
    (
        {"question": "x", "model": "test", "section_budget": {"max_tokens": 0}},
        "section_budget.max_tokens=0 leaves no call to a model",
    ),
]


async def test_bad_input_is_one_clear_line_and_nothing_is_started(client: Client) -> None:
    for arguments, expected in BAD:
        message = await refusal(client, "research", **arguments)
        assert expected in message
        assert "\n" not in message
    assert (await call(client, "get_thought_history"))["runs"] == []


async def test_the_conversation_says_what_is_meant(
    tmp_path: Path, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant = {"question": question_of(OIL), "mode": "iterative"}

    def read(request: Mapping[str, Any]) -> Reply | None:
        return calls("answer", meant) if "mode" in form_of(request) else None

    with provided(ResearchAnswers([OIL], before=read), monkeypatch):
        server = SifakaServer(settings(tmp_path, pages, model="openai-chat:stub"))
        async with Client(server) as client:
            done = await call(
                client,
                "research",
                question="And what is to be told of them?",
                history=[{"role": "user", "text": "What is to be told of oil lamps?"}],
            )
    assert (done["status"], done["research"]["mode"]) == ("done", "iterative")
    assert done["text"].startswith(f"# {question_of(OIL)}")


@pytest.mark.slow
async def test_a_model_writes_the_report_section_by_section_with_progress(
    tmp_path: Path, pages: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[float, float | None, str]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message or ""))

    with provided(ResearchAnswers([OIL, GAS]), monkeypatch) as served:
        server = SifakaServer(settings(tmp_path, pages, model="openai-chat:stub"))
        async with Client(server, mode=era) as client:
            result = await client.call_tool(
                "research", {"question": QUESTION}, progress_callback=listen
            )
    out = result.structured_content
    assert out is not None
    assert (out["status"], out["passed"], out["stop_reason"]) == ("done", True, "passed")
    assert [(s["title"], s["status"]) for s in out["research"]["sections"]] == [
        ("Oil", "done"),
        ("Gas", "done"),
    ]
    assert f"Oil: {OIL.quote} [1]" in out["text"]
    assert [r["title"] for r in out["research"]["references"]] == ["Oil lamps", "Gas lamps"]
    assert out["usage"]["model_calls"] == len(served.requests)
    reached = [each[0] for each in told]
    assert reached == sorted(set(reached))
    messages = {message for _, _, message in told}
    assert {
        "research, section 1: researching 'Oil'",
        "research, section 2: researching 'Gas'",
    } <= messages
    assert told[-1][0] == told[-1][1]


def holding(gate: Gate) -> Callable[[Mapping[str, Any]], Reply | None]:
    """What makes the writing of the section on gas wait."""
    written = calls("answer", {"text": f"Gas: {GAS.quote} [1]"})
    held = Reply(body=written.body, gate=gate)

    def wait(request: Mapping[str, Any]) -> Reply | None:
        is_gas = "text" in form_of(request) and question_of(GAS) in asked_of(request)
        return held if is_gas else None

    return wait


@pytest.mark.slow
async def test_a_run_that_takes_longer_is_polled_and_tells_how_far_its_sections_are(
    tmp_path: Path, pages: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provided(ResearchAnswers([OIL, GAS], before=holding(gate)), monkeypatch):
        server = SifakaServer(settings(tmp_path, pages, model="openai-chat:stub"))
        async with Client(server) as client:
            begun = await call(client, "research", question=QUESTION, wait_seconds=0)
            assert (begun["status"], begun["text"]) == ("running", "")
            run_id = begun["run_id"]
            await gate.reached()
            with anyio.fail_after(20):
                while True:
                    polled = await call(client, "resume_run", run_id=run_id, wait_seconds=0)
                    sections = {s["title"]: s["status"] for s in polled["research"]["sections"]}
                    if sections == {"Oil": "done", "Gas": "running"}:
                        break
            assert (polled["status"], polled["research"]["mode"]) == ("running", "deep")
            gate.open()
            done = await call(client, "resume_run", run_id=run_id)
            assert (done["status"], done["passed"]) == ("done", True)


async def test_cancelling_stops_research_in_the_middle(
    tmp_path: Path, pages: Path, gate: Gate, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provided(ResearchAnswers([OIL, GAS], before=holding(gate)), monkeypatch) as served:
        server = SifakaServer(settings(tmp_path, pages, model="openai-chat:stub"))
        async with Client(server, mode=era) as client:
            begun = await call(client, "research", question=QUESTION, wait_seconds=0)
            await gate.reached()
            stopped = await call(client, "cancel_run", run_id=begun["run_id"])
            assert (stopped["status"], stopped["text"]) == ("cancelled", "")
            assert stopped["research"]["sections"][1]["status"] == "running"
            await served.deserted()
            await let_go(server, begun["run_id"])
            asked = len(served.requests)
            again = await call(client, "resume_run", run_id=begun["run_id"])
            assert again["status"] == "cancelled"
            assert len(served.requests) == asked, "nothing of it goes on"


async def test_a_failed_section_is_named_and_the_others_are_there(
    tmp_path: Path, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provided(ResearchAnswers([OIL, GAS], failing="Gas"), monkeypatch):
        server = SifakaServer(settings(tmp_path, pages, model="openai-chat:stub"))
        async with Client(server) as client:
            out = await call(client, "research", question=QUESTION)
    assert (out["status"], out["research"]["partial"]) == ("done", True)
    oil, gas = out["research"]["sections"]
    assert (oil["status"], gas["status"]) == ("done", "failed")
    assert gas["error"]
    assert any("'Gas' failed" in line for line in out["degraded"])
    assert out["text"].index("## Oil") < out["text"].index("## Gas")


class FormHost:
    """A client's model that takes part in research.

    Args:
        never_content: Whether it finds gaps in whatever was found.
    """

    def __init__(self, *, never_content: bool = False) -> None:
        self._never_content = never_content

    async def __call__(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        del context
        instructions = params.system_prompt or ""
        _, found, schema = instructions.partition("this JSON schema:\n")
        form: dict[str, Any] = json.loads(schema) if found else {"properties": {}}
        if self._never_content and "research_complete" in form["properties"]:
            return says(json.dumps({"research_complete": False, "gaps": [question_of(OIL)]}))
        request: dict[str, Any] = {
            "messages": [{"content": instructions}, {"content": words(params)}],
            "tools": [{"function": {"parameters": form}}],
        }
        message = ResearchAnswers([OIL, GAS])(request).body["choices"][0]["message"]
        return says(message["tool_calls"][0]["function"]["arguments"])


async def test_the_hosts_model_researches_and_writes(tmp_path: Path, pages: Path, era: Era) -> None:
    server = SifakaServer(settings(tmp_path, pages))
    async with Client(server, mode=era, sampling_callback=FormHost()) as client:
        out = await call(client, "research", question="oil lamps", max_iterations=1)
    assert (out["model"], out["research"]["mode"]) == ("host", "iterative")
    assert f"Oil: {OIL.quote} [1]" in out["text"]
    assert (out["status"], out["passed"]) == ("done", True)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["iterative", "deep"])
async def test_where_the_host_is_asked_no_more_the_caller_writes_from_what_was_found(
    tmp_path: Path, pages: Path, mode: str
) -> None:
    server = SifakaServer(settings(tmp_path, pages))
    async with Client(server, sampling_callback=FormHost(never_content=True)) as client:
        out = await call(client, "research", question=QUESTION, mode=mode, max_iterations=5)
        assert (out["status"], out["passed"]) == ("needs_revision", False), out["degraded"]
        assert OIL.quote in out["text"]
        assert "_To be written._" in out["text"]
        assert any("researched without a model" in line for line in out["degraded"])
        done = await call(
            client,
            "submit_revision",
            run_id=out["run_id"],
            parent_id=out["brief"]["parent_id"],
            text=out["text"].replace("_To be written._", "Oil came first [1]."),
        )
        # None of its claims could be verified.
        assert (done["accepted"], done["status"], done["passed"]) == (True, "done", False)
        assert done["stop_reason"] == "unchecked"
