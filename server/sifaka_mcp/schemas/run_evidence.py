"""The evidence of a run, on the wire: every verdict, and each source once."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Self

from pydantic import BaseModel

from sifaka.evidence.documents import GIVEN
from sifaka.record.claims import ClaimEvidence, ClaimStatus, ClaimVerdict, Stance, verdicts_in
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought


class SourceOut(BaseModel):
    """A document that verdicts rest on, or that was found for a version."""

    id: str
    title: str
    url: str
    adapter: str
    document_id: str
    published: str | None
    retrieved_at: str | None


class CitedOut(BaseModel):
    """What one source says about a claim."""

    source: str
    stance: Stance
    quote: str


class StoredVerdictOut(BaseModel):
    """A verdict as it was stored with a version."""

    by: str
    claim: str
    quote: str
    start: int | None
    end: int | None
    verdict: ClaimStatus
    reason: str
    evidence: list[CitedOut]
    checked_at: str
    reused: bool


class VersionEvidenceOut(BaseModel):
    """The verdicts on one version, and the sources of the documents that came with it."""

    thought_id: str
    accepted: bool | None
    verdicts: list[StoredVerdictOut]
    documents: list[str]


class RunEvidenceOut(BaseModel):
    """Versions oldest first; verdicts and documents name their sources by id."""

    run_id: str
    champion_id: str | None
    versions: list[VersionEvidenceOut]
    sources: list[SourceOut]

    @classmethod
    def of(cls, run: Run) -> Self:
        """The wire form; with no versions in it that have neither verdicts nor documents."""
        sources = _Sources()
        versions = [_version(run, thought, sources) for thought in run.thoughts]
        return cls(
            run_id=run.run_id,
            champion_id=run.champion_id,
            versions=[each for each in versions if each.verdicts or each.documents],
            sources=list(sources.found.values()),
        )


class _Sources:
    """The sources in the order in which they are met, each under an id of its own."""

    def __init__(self) -> None:
        self.found: dict[str, SourceOut] = {}

    def of_evidence(self, evidence: ClaimEvidence) -> str:
        return self._id(
            title=evidence.title,
            url=evidence.url,
            adapter=evidence.adapter,
            document_id=evidence.document_id,
            published=evidence.published.isoformat() if evidence.published else None,
            retrieved_at=evidence.retrieved_at.isoformat() if evidence.retrieved_at else None,
        )

    def of_document(self, document: Document) -> str:
        told = document.metadata
        return self._id(
            title=document.title,
            url=document.url,
            adapter=str(told.get("adapter") or GIVEN),
            document_id=document.id,
            published=_text(told.get("published")),
            retrieved_at=_text(told.get("retrieved_at")),
        )

    def _id(self, **fields: str | None) -> str:
        # One that was retrieved twice is one source, of the time when it was first read.
        named = fields["url"] or fields["document_id"] or fields["title"] or ""
        key = sha256(f"{fields['adapter']}\n{named}".encode("utf-8", "surrogatepass")).hexdigest()
        if key not in self.found:
            self.found[key] = SourceOut.model_validate({"id": f"s{len(self.found) + 1}", **fields})
        return self.found[key].id


def _version(run: Run, thought: Thought, sources: _Sources) -> VersionEvidenceOut:
    decision = run.decisions.get(thought.id)
    documents = (*thought.pre_generation_context, *thought.post_generation_context)
    return VersionEvidenceOut(
        thought_id=thought.id,
        accepted=decision.accepted if decision else None,
        verdicts=[_told(by, each, sources) for by, each in _stored(thought)],
        documents=list(dict.fromkeys(sources.of_document(each) for each in documents)),
    )


def _stored(thought: Thought) -> Iterator[tuple[str, ClaimVerdict]]:
    """The verdicts of a version's validators and critics, each with who has asked for it."""
    for name, result in thought.validation_results.items():
        yield from ((name, each) for each in verdicts_in(result.details))
    for feedback in thought.critic_feedback:
        yield from ((feedback.critic, each) for each in verdicts_in(feedback.details))


def _told(by: str, verdict: ClaimVerdict, sources: _Sources) -> StoredVerdictOut:
    return StoredVerdictOut(
        by=by,
        claim=verdict.claim.text,
        quote=verdict.claim.quote,
        start=verdict.claim.start,
        end=verdict.claim.end,
        verdict=verdict.verdict,
        reason=verdict.reason,
        evidence=[
            CitedOut(source=sources.of_evidence(each), stance=each.stance, quote=each.quote)
            for each in verdict.evidence
        ],
        checked_at=verdict.checked_at.isoformat(),
        reused=verdict.reused,
    )


def _text(told: object) -> str | None:
    return str(told) if told else None
