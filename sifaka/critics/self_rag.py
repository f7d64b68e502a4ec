"""Self-RAG: claims held against evidence."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field

from sifaka.calls.component import code_spec
from sifaka.calls.journal import scope
from sifaka.critics.judge import JudgingCritic
from sifaka.critics.panel import Replies, ask_all, no_answer
from sifaka.critics.reflections import Reflection
from sifaka.evidence.claims.extraction import NEEDS_EVIDENCE, claims_in
from sifaka.evidence.passages import Passage, nearest, passages_of
from sifaka.models.prompt import Prompt, frame
from sifaka.record.claims import Claim
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.thought import Document, Thought
from sifaka.record.usage import Usage
from sifaka.retrievers.protocol import Retriever
from sifaka.validators.spec import Name

PROMPT = Prompt(
    purpose="Says how far one passage supports one claim of a text, as Self-RAG's reflections do.",
    task="You check one claim of a text against one passage. Give probabilities from 0 to 1 that "
    "add up to 1 in each group.",
    rules=(
        "Judge by the passage alone, and not by what you know.",
        "`relevance`: does the passage speak about what is claimed?",
        "`support`: `full` when the passage says everything in the claim, `partial` when it says "
        "some of it, `none` when it says nothing of it or the contrary.",
        "`usefulness`: how much the claim helps with the task of the text, from `one` (not at all) "
        "to `five` (very much).",
    ),
    example="A passage that says `the tower is 300 m high` supports the claim `the tower, opened "
    "in 1889, is 300 m high` in part.",
)
_ASKED = "How far does the passage support the claim?"
_NO_EVIDENCE = {"verdict": "no_evidence"}


class _Judged(NamedTuple):
    """One claim with what was judged about it."""

    claim: Claim
    evidence: tuple[tuple[Passage[Document], Reflection], ...]
    """Every passage it was held against, and what came of it."""

    @property
    def best(self) -> tuple[Passage[Document], Reflection] | None:
        """The relevant passage with the highest score."""
        relevant = [each for each in self.evidence if each[1].is_relevant]
        return max(relevant, key=lambda each: each[1].score, default=None)

    @property
    def refuted(self) -> bool:
        """True when the passage that decides does not support it in full."""
        return self.best is not None and self.best[1].supports != "full"


def _usable_retriever(retriever: Any) -> Any:
    if retriever is not None and not isinstance(retriever, Retriever):
        raise ValueError(
            f"should be an object with a method `retrieve`, not {type(retriever).__name__}"
        )
    return retriever


class SelfRAGCritic(JudgingCritic):
    """Holds every claim of the text against documents, passage by passage.

    Self-RAG (Asai et al. 2023, arXiv 2310.11511): for each claim that needs evidence, and each
    passage, relevance (ISREL), support (ISSUP) and usefulness (ISUSE) as probabilities and their
    weighted score. The documents are those of the version, and what the retriever finds for its
    text. A claim about which no passage speaks has no evidence: that is on record and is neither
    support nor an issue. Without any document it abstains with `no_evidence` and asks no model.
    `1 + claims * passages` model calls, depth two; the revision is the chain's.
    """

    type: Literal["self_rag"] = "self_rag"
    name: Name = "self_rag"
    retriever: Annotated[Any, AfterValidator(_usable_retriever)] = Field(default=None, exclude=True)
    """A `Retriever` to ask besides; an object, so no part of the spec as data."""
    max_claims: int = Field(default=8, ge=1, le=50)
    """Those that need evidence most; the others are told to be unchecked."""
    max_passages: int = Field(default=5, ge=1, le=20)
    """Passages for each claim, those that have most words in common with it."""

    def calls(self, text: str = "") -> int:
        """One for the claims, one for a claim and a passage."""
        return 2

    def spec(self) -> Mapping[str, object]:
        """Its type and its options; with a retriever, which is an object, it is code."""
        return super().spec() if self.retriever is None else code_spec(self)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The support of the claims; see `Critic`.

        A passage whose call fails is on record in `degraded`. When no call for half of the claims
        or more was answered, and no claim was found wanting, there is no vote.
        """
        passages = passages_of(
            (
                *thought.pre_generation_context,
                *thought.post_generation_context,
                *await self._retrieved(thought),
            )
        )
        if not passages:
            return self._without_evidence("there are no documents", Usage())
        with scope("claims"):
            model = self._opened(self.model)
            extracted = await claims_in(thought.text, model, task=thought.prompt)
        usage = extracted.usage
        needing = [each for each in extracted.claims if each.need >= NEEDS_EVIDENCE]
        claims = sorted(needing, key=lambda each: -each.need)[: self.max_claims]
        if not claims:
            return self._without_evidence("the text makes no claim that needs any", usage)
        found = [nearest(each.text, passages, self.max_passages) for each in claims]
        replies = await ask_all(
            {
                _place(c, p): partial(self._judge, thought, claims[c], passage)
                for c, candidates in enumerate(found)
                for p, passage in enumerate(candidates)
            }
        )
        spent = usage + replies.usage
        judged = [
            _judged(c, each, candidates, replies.answers)
            for c, (each, candidates) in enumerate(zip(claims, found, strict=True))
        ]
        unjudged = sum(not each.evidence for each in judged)
        if unjudged * 2 >= len(judged) and not any(each.refuted for each in judged):
            return no_answer(self.name, replies).model_copy(
                update={"usage": spent, "degraded": replies.degraded}
            )
        return self._feedback(thought, judged, len(needing), replies, spent)

    async def _retrieved(self, thought: Thought) -> Sequence[Document]:
        if self.retriever is None:
            return ()
        return await self.retriever.retrieve(thought.text, self.max_passages)

    async def _judge(
        self, thought: Thought, claim: Claim, passage: Passage[Document]
    ) -> tuple[Reflection, Usage]:
        words = f"{passage.document.title}\n{passage.text}"
        shown = frame("passage", words, lasting=True)
        question = "\n\n".join((*_task(thought), shown, frame("claim", claim.text), _ASKED))
        return await self._ask(PROMPT, question, Reflection)

    def _feedback(
        self,
        thought: Thought,
        judged: Sequence[_Judged],
        needing: int,
        replies: Replies[Reflection],
        usage: Usage,
    ) -> CriticFeedback:
        best = [each.best for each in judged]
        supported = [b is not None and b[1].supports == "full" for b in best]
        with_evidence = sum(b is not None for b in best)
        if not with_evidence:
            failed = "".join(f"; {line}" for line in replies.degraded[:1])
            reason = f"no passage speaks about its claims{failed}"
            return self._without_evidence(reason, usage, judged).model_copy(
                update={"degraded": replies.degraded}
            )
        issues = tuple(
            _issue(each.claim, b, thought.text)
            for each, b in zip(judged, best, strict=True)
            if b is not None and b[1].supports != "full"
        )
        unchecked = needing - len(judged)
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if issues else "accept",
            scores={"support": round(sum(supported) / with_evidence, 3)},
            issues=issues,
            details={
                "verdict": "unsupported" if issues else "supported",
                "claims": [_noted(each) for each in judged],
            },
            degraded=(
                *replies.degraded,
                *([f"{unchecked} further claims were not checked"] if unchecked else []),
            ),
            usage=usage,
        )

    def _without_evidence(
        self, reason: str, usage: Usage, judged: Sequence[_Judged] = ()
    ) -> CriticFeedback:
        details = {**_NO_EVIDENCE, "claims": [_noted(each) for each in judged]}
        return CriticFeedback.abstain(
            self.name,
            f"no_evidence: {reason}",
            usage,
            details if judged else _NO_EVIDENCE,
        )


def _task(thought: Thought) -> list[str]:
    return [frame("task", thought.prompt, lasting=True)] if thought.prompt else []


def _place(claim: int, passage: int) -> str:
    return f"claim {claim} passage {passage}"


def _judged(
    number: int,
    claim: Claim,
    candidates: Sequence[Passage[Document]],
    answers: Mapping[str, Reflection],
) -> _Judged:
    evidence = (
        (passage, answers[_place(number, p)])
        for p, passage in enumerate(candidates)
        if _place(number, p) in answers
    )
    return _Judged(claim, tuple(evidence))


def _noted(judged: _Judged) -> dict[str, object]:
    told: dict[str, object] = {"claim": judged.claim.text[:500], "quote": judged.claim.quote[:200]}
    if judged.best is None:
        return told | {"support": "no_evidence" if judged.evidence else "not_judged"}
    passage, reflection = judged.best
    return told | {
        "support": reflection.supports,
        "score": round(reflection.score, 3),
        "document": {"id": passage.document.id, "title": passage.document.title},
    }


def _issue(claim: Claim, best: tuple[Passage[Document], Reflection], text: str) -> Issue:
    passage, reflection = best
    degree = "only partly supported" if reflection.supports == "partial" else "not supported"
    message = f"{degree} by {passage.source[:100]!r}: {claim.text[:300]}"
    severity = 3 if reflection.supports == "partial" else 4
    if claim.start is None or claim.end is None:
        return Issue(
            message=message,
            quote=claim.quote[:200],
            category="evidence",
            severity=severity,
            rule="evidence",
        )
    span = claim.start, claim.end
    return Issue.at(text, *span, message, category="evidence", severity=severity, rule="evidence")
