"""`run://{run_id}/evidence`: every stored verdict, and each source once."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import ResourceTemplateReference, TextResourceContents

from sifaka.record.claims import Claim, ClaimEvidence, ClaimVerdict
from sifaka.record.entries import Decided, Decision, Drafted, Started
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.schemas.evidence import evidence_of
from sifaka_mcp.settings import Settings
from tests.stubs.sampling_client import data
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio

WHEN = datetime(2026, 3, 1, tzinfo=UTC)
TALL = "The tower is 300 metres tall."


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
