"""The evidence of a run, on the wire: every verdict, and each source once."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from sifaka.evidence.documents import GIVEN
from sifaka.record.claims import ClaimEvidence, ClaimVerdict, verdicts_in
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought
from sifaka_mcp.schemas.evidence import ClaimOut

Data = dict[str, Any]


def evidence_of(run: Run) -> Data:
    """The verdicts on each version, oldest first, with the documents that came with it.

    Both name their `sources` by id. Left out are versions that have neither.
    """
    sources = _Sources()
    versions = [_version(run, thought, sources) for thought in run.thoughts]
    return {
        "run_id": run.run_id,
        "champion_id": run.champion_id,
        "versions": [each for each in versions if each["verdicts"] or each["documents"]],
        "sources": list(sources.found.values()),
    }


class _Sources:
    """The sources in the order in which they are met, each under an id of its own."""

    def __init__(self) -> None:
        self.found: dict[str, Data] = {}

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
            self.found[key] = {"id": f"s{len(self.found) + 1}", **fields}
        return self.found[key]["id"]


def _version(run: Run, thought: Thought, sources: _Sources) -> Data:
    decision = run.decisions.get(thought.id)
    documents = (*thought.pre_generation_context, *thought.post_generation_context)
    return {
        "thought_id": thought.id,
        "accepted": decision.accepted if decision else None,
        "verdicts": [_told(by, each, sources) for by, each in _stored(thought)],
        "documents": list(dict.fromkeys(sources.of_document(each) for each in documents)),
    }


def _stored(thought: Thought) -> Iterator[tuple[str, ClaimVerdict]]:
    """The verdicts of a version's validators and critics, each with who has asked for it."""
    for name, result in thought.validation_results.items():
        yield from ((name, each) for each in verdicts_in(result.details))
    for feedback in thought.critic_feedback:
        yield from ((feedback.critic, each) for each in verdicts_in(feedback.details))


def _told(by: str, verdict: ClaimVerdict, sources: _Sources) -> Data:
    """A verdict as it was stored with a version; what each source says stands with its id."""
    evidence = [
        {"source": sources.of_evidence(each), "stance": each.stance, "quote": each.quote}
        for each in verdict.evidence
    ]
    told = ClaimOut.of(verdict).model_dump(mode="json", exclude={"evidence"})
    return {"by": by, **told, "evidence": evidence}


def _text(told: object) -> str | None:
    return str(told) if told else None
