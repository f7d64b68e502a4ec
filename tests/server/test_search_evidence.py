"""Evidence that is searched for through three doors, and that of a run, by its address."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client
from mcp_types import ResourceTemplateReference, TextContent, TextResourceContents

from sifaka.record.claims import Claim, ClaimEvidence, ClaimVerdict
from sifaka.record.entries import Decided, Decision, Drafted, Started
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.schemas.evidence import evidence_of
from sifaka_mcp.settings import Settings
from tests.stubs.provider import Reply, calls, provided
from tests.stubs.sampling_client import data
from tests.stubs.served import grant_token, served
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio


QUESTION = "How tall is the tower, and when was it built?"
TALL, BUILT = "The tower is 300 metres tall.", "It was built in 1889."
PLAN = {
    "queries": ["tower height", "tower built"],
    "criteria": [
        {"id": "height", "name": "height", "description": "It says how tall it is.", "weight": 60},
        {"id": "year", "name": "year", "description": "It says when it was built.", "weight": 40},
    ],
}


def judged(request: Mapping[str, Any]) -> Reply:
    """Plans; supports a criterion with its words where the document has them."""
    asked = str(request["messages"][-1]["content"])
    if "<criteria" not in asked:
        return calls("answer", PLAN)
    judgements = [
        {"criterion": name, "judgement": "support", "quotes": [words]}
        if words in asked
        else {"criterion": name, "judgement": "insufficient_information"}
        for name, words in (("height", TALL), ("year", BUILT))
    ]
    return calls("answer", {"judgements": judgements})


@pytest.fixture
def pages(tmp_path: Path) -> str:
    return pages_in(tmp_path)


def pages_in(home: Path) -> str:
    """The spec of a folder with three pages."""
    folder = home / "pages"
    folder.mkdir()
    (folder / "both.md").write_text(f"# The tower\n\n{TALL} {BUILT}\n")
    (folder / "height.md").write_text(f"# Heights\n\n{TALL} The tower is of iron.\n")
    (folder / "other.md").write_text("# Another tower\n\nThe tower of the church has a clock.\n")
    return f"pages=folder:{folder}"


def server(home: Path, pages: str, **settings: Any) -> SifakaServer:
    return SifakaServer(Settings(home=home, toolsets=("evidence",), adapters=(pages,), **settings))


async def test_each_document_has_its_class_and_quotes_for_each_criterion(
    tmp_path: Path, pages: str, monkeypatch: pytest.MonkeyPatch, era: Era
) -> None:
    with provided(judged, monkeypatch):
        async with Client(server(tmp_path, pages, model="openai-chat:stub"), mode=era) as client:
            result = await client.call_tool("search_evidence", {"question": QUESTION})
    out = data(result)
    assert [(e["id"], e["classification"], e["score"]) for e in out["evidence"]] == [
        ("both.md", "perfect", 1.0), ("height.md", "partial", 0.6), ("other.md", "reject", 0.0),
    ]  # fmt: skip
    assert out["evidence"][1]["explanation"] == "It supports 'height'; does not tell of 'year'."
    assert [j["quotes"] for j in out["evidence"][0]["judgements"]] == [[TALL], [BUILT]]
    assert [each["weight"] for each in out["criteria"]] == [0.6, 0.4]
    assert out["status"] == "found"
    assert out["usage"]["model_calls"] == 4
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert "1. perfect 1.00: It supports 'height', 'year'." in content.text
    assert f"   height: {TALL!r}" in content.text
    assert "from 'The tower', 'both.md' in pages, without a date" in content.text


async def test_a_plan_searches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = f"gone=folder:{tmp_path / 'nowhere'}"
    with provided(judged, monkeypatch):
        async with Client(server(tmp_path, gone, model="openai-chat:stub")) as client:
            out = data(
                await client.call_tool("search_evidence", {"question": QUESTION, "plan_only": True})
            )
    assert out["queries"] == PLAN["queries"]
    assert (out["status"], out["evidence"], out["degraded"]) == (None, [], [])


async def test_without_a_model_the_caller_judges_passages(tmp_path: Path, pages: str) -> None:
    async with Client(server(tmp_path, pages)) as client:
        out = data(await client.call_tool("search_evidence", {"question": QUESTION}))
    assert {each["classification"] for each in out["evidence"]} == {"unverified"}
    assert TALL in out["evidence"][0]["passage"]
    assert "Judge each yourself" in out["instructions"]


def base(url: str) -> str:
    return url.removesuffix("/mcp")


async def test_open_sift_is_answered(
    tmp_path: Path, pages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provided(judged, monkeypatch):
        settings = {"toolsets": "evidence", "adapters": pages, "model": "openai-chat:stub"}
        with served(tmp_path, **settings) as url:
            async with httpx.AsyncClient(base_url=base(url), timeout=60) as http:
                plain = (await http.post("/v1/search", json={"query": QUESTION})).json()
                raw = await http.post(
                    "/v1/search",
                    json={"query": QUESTION, "options": {"classify": False, "decompose": False}},
                )
                ranked = await http.post(
                    "/v1/search", json={"query": QUESTION, "options": {"verify": False}}
                )
                plan = (await http.post("/v1/plan", json={"query": QUESTION})).json()
                streamed = await http.post(
                    "/v1/search", json={"query": QUESTION, "options": {"stream": True}}
                )
                wrong = await http.post("/v1/search", json={"query": "", "x": 1})
                form = await http.post("/v1/search", content=b"query=x")
                unknown = await http.post(
                    "/v1/search", json={"query": "x", "options": {"adapters": ["no"]}}
                )
                health = (await http.get("/v1/health")).json()
                adapters = (await http.get("/v1/health/adapters")).json()["adapters"]
    assert [r["classification"] for r in plain["perfect_results"]] == ["perfect"]
    assert plain["partial_results"][0]["weighted_score"] == 0.6
    assert (plain["rejected_count"], plain["total_scanned"], plain["status"]) == (1, 3, "completed")
    first = plain["perfect_results"][0]
    assert first["result"]["content"].endswith(f"{TALL} {BUILT}")
    assert first["validation"]["criteria_assessment"][0]["evidence"][0]["text"] == TALL
    assert len(raw.json()["raw_results"]) == 3
    assert raw.json()["criteria_result"]["search_queries"] == [QUESTION]
    assert len(ranked.json()["unverified_results"]) == 3
    assert plan["criteria_result"]["search_queries"] == PLAN["queries"]
    refused = (wrong, form, unknown, streamed)
    assert [each.status_code for each in refused] == [422, 415, 422, 422]
    (name,) = health["active_adapters"]
    assert (health["status"], health["default_adapter"]) == ("healthy", name)
    assert (adapters[name]["status"], adapters[name]["message"]) == ("healthy", None)


async def test_the_paths_ask_for_a_token_and_keep_tenants_apart(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch()
    alice = grant_token(tokens, "alice")
    configured: dict[str, Any] = {
        "toolsets": ("refine", "evidence"),
        "adapters": ("past=thoughts:",),
        "auth_tokens_file": tokens,
        "max_body_bytes": 100_000,
    }
    with served(tmp_path, **configured) as url:
        async with httpx.AsyncClient(base_url=base(url), timeout=60) as http:
            body = {"query": "lighthouse"}
            refused = await http.post("/v1/search", json=body)
            unread = await http.get("/v1/health/adapters")
            bearer = {"Authorization": f"Bearer {alice}"}
            with anyio.fail_after(30):
                answered = await http.post("/v1/search", json=body, headers=bearer)
            large = await http.post(
                "/v1/search", content=b" " * 200_000,
                headers={**bearer, "Content-Type": "application/json"},
            )  # fmt: skip
    assert refused.status_code == unread.status_code == 401
    assert answered.json()["status"] == "no_results"
    assert large.status_code == 413


WHEN = datetime(2026, 3, 1, tzinfo=UTC)


def verdict(claim: str, *evidence: ClaimEvidence) -> dict[str, Any]:
    made = ClaimVerdict(
        claim=Claim(text=claim), verdict="supported", evidence=evidence, checked_at=WHEN
    )
    return made.model_dump(mode="json")


def of_tower(quote: str, *, url: str = "https://wiki.example/tower") -> ClaimEvidence:
    return ClaimEvidence(
        stance="supports",
        quote=quote,
        title="Tower",
        url=url,
        adapter="wikipedia",
        retrieved_at=WHEN,
    )


def run_of(*thoughts: Thought) -> Run:
    run = Run.start(Started(run_id="run_1"))
    for thought in thoughts:
        run = run.apply(Drafted(thought=thought))
        decision = Decision(accepted=True, note="the first")
        run = run.apply(Decided(thought_id=thought.id, decision=decision))
    return run


def version(number: int, **fields: Any) -> Thought:
    return Thought(run_id="run_1", iteration=number, text=TALL, **fields)


def test_verdicts_of_validators_and_critics_are_told_with_each_source_once() -> None:
    first = of_tower("300 metres")
    later = of_tower("built of iron").model_copy(update={"retrieved_at": datetime.now(UTC)})
    checked = ValidationResult(passed=True, details={"claims": [verdict(TALL, first)]})
    said = CriticFeedback(
        critic="evidence",
        details={"claims": [verdict("It is of iron.", later, of_tower("x", url="https://b.c"))]},
    )
    run = run_of(
        version(0, validation_results={"evidence": checked}), version(1, critic_feedback=(said,))
    )
    out = evidence_of(run)
    assert [each["thought_id"] for each in out["versions"]] == ["run_1.0", "run_1.1"]
    (by_validator,), (by_critic,) = (each["verdicts"] for each in out["versions"])
    assert (by_validator["claim"], by_critic["by"]) == (TALL, "evidence")
    assert [each["source"] for each in by_validator["evidence"]] == ["s1"]
    assert [each["source"] for each in by_critic["evidence"]] == ["s1", "s2"]
    assert [(each["id"], each["url"]) for each in out["sources"]] == [
        ("s1", "https://wiki.example/tower"),
        ("s2", "https://b.c"),
    ]
    assert out["sources"][0]["retrieved_at"] == WHEN.isoformat(), "when it was first read"


def test_documents_that_came_with_a_version_are_sources_too() -> None:
    found = Document(
        text="300 metres",
        title="Tower",
        url="https://wiki.example/tower",
        metadata={"adapter": "wikipedia", "retrieved_at": WHEN.isoformat()},
    )
    own = Document(text="my notes", id="notes")
    run = run_of(version(0, pre_generation_context=(found,), post_generation_context=(own, found)))
    out = evidence_of(run)
    assert out["versions"][0]["documents"] == ["s1", "s2"]
    assert [(each["adapter"], each["retrieved_at"]) for each in out["sources"]] == [
        ("wikipedia", WHEN.isoformat()),
        ("given", None),
    ]


def test_what_others_put_on_record_as_claims_is_no_verdict() -> None:
    said = CriticFeedback(
        critic="self_rag", details={"claims": [{"claim": TALL, "support": "full"}, 3]}
    )
    odd = ValidationResult(passed=True, details={"claims": "three"})
    run = run_of(version(0, critic_feedback=(said,), validation_results={"odd": odd}))
    assert evidence_of(run)["versions"] == []


async def test_the_evidence_of_a_run_is_read_by_its_address(tmp_path: Path, era: Era) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "tower.txt").write_text("The tower is 300 metres tall, and of iron.")
    settings = Settings(home=tmp_path, adapters=(f"pages=folder:{pages}",))
    async with Client(SifakaServer(settings), mode=era) as client:
        arguments = {"text": TALL, "validators": [{"type": "evidence"}]}
        run = data(await client.call_tool("improve_text", arguments))
        assert run["status"] == "done", "nothing is rejected without a model"
        (content,) = (await client.read_resource(f"run://{run['run_id']}/evidence")).contents
        completed = await client.complete(
            ResourceTemplateReference(uri="run://{run_id}/evidence"),
            {"name": "run_id", "value": "run_"},
        )
    assert isinstance(content, TextResourceContents)
    told = json.loads(content.text)
    assert told["run_id"] == run["run_id"]
    assert told["champion_id"] == run["thought_id"]
    (only,) = told["versions"]
    assert only["verdicts"][0]["claim"] == TALL
    assert only["verdicts"][0]["verdict"] == "unverified"
    (source,) = told["sources"]
    assert (source["adapter"], bool(source["retrieved_at"])) == ("pages", True)
    assert only["verdicts"][0]["evidence"][0]["source"] == source["id"]
    assert completed.completion.values == [run["run_id"]]
