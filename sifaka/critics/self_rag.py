"""Self-RAG: claims checked against evidence."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field, model_validator

from sifaka.calls.component import code_spec
from sifaka.calls.context import scope
from sifaka.critics.judge import JudgingCritic
from sifaka.critics.opinion import Replies, ask_all, no_answer
from sifaka.errors import ModelProviderError
from sifaka.evidence.claims.extraction import NEEDS_EVIDENCE, claims_in
from sifaka.evidence.passages import Passage, nearest, passages_of
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form, Number, Whole
from sifaka.record.claims import Claim
from sifaka.record.results import QUOTE_LIMIT, CriticFeedback, Issue
from sifaka.record.thought import Document, Thought
from sifaka.record.usage import Usage
from sifaka.retrievers.protocol import Retriever
from sifaka.text.anchoring import anchor
from sifaka.validators.spec import Name

# --- the reflection on a claim's passages, and the score of each ---

Support = Literal["full", "partial", "none"]

_RELEVANCE, _SUPPORT, _USEFULNESS = 1.0, 1.0, 0.5
"""The weights of the three parts of the score."""


class Reflection(Form):
    """ISREL and ISSUP: does the passage speak about the claim, and how much of it does it say?"""

    passage: Whole = Field(description="the passage's number")
    quote: str = Field(default="", description="its words that decide, copied exactly")
    relevant: Number = Field(ge=0, le=1, description="probability that it is about the claim")
    full: Number = Field(ge=0, description="probability that it says everything")
    partial: Number = Field(ge=0, description="probability that it says some of it")
    none: Number = Field(ge=0, description="probability that it says nothing or the contrary")

    @model_validator(mode="after")
    def _check_degrees(self) -> "Reflection":
        if not 0 < self.full + self.partial + self.none < inf:
            raise ValueError("`full`, `partial` and `none` must add up to 1")
        return self

    @property
    def supports(self) -> Support:
        """The likeliest degree of support; of equal ones the lower."""
        degrees: tuple[Support, ...] = ("none", "partial", "full")
        return max(degrees, key=lambda degree: getattr(self, degree))


class Reflections(Form):
    """Your judgement of the claim in the light of each passage."""

    passages: list[Reflection] = Field(min_length=1, description="one for each passage")
    usefulness: Number = Field(ge=1, le=5, description="ISUSE: 1 not at all ... 5 very")

    def score(self, passage: Reflection) -> float:
        """Self-RAG's weighted score, from -0.5 to 2.5 (arXiv 2310.11511, section 3.3).

        The grades of usefulness have the values -1, -0.5, 0, 0.5 and 1; what is between them too.
        """
        degrees = passage.full + passage.partial + passage.none
        support = (passage.full + 0.5 * passage.partial) / degrees
        use = (self.usefulness - 3) / 2
        return _RELEVANCE * passage.relevant + _SUPPORT * support + _USEFULNESS * use


# --- the critic ---

PROMPT = Prompt(
    purpose="Says how far passages support one claim of a text, as Self-RAG's reflections do.",
    task="You check one claim of a text against passages of its sources.",
    rules=(
        "Judge each passage by itself, and not by what you know or another passage says. Give one "
        "judgement for each, under its number.",
        "First put into `quote` the words of the passage that say most about the claim, such as "
        "the number that it gives. Copy them exactly. Leave it empty where it says nothing.",
        "`relevant`: the probability, from 0 to 1, that the passage speaks about what is claimed.",
        "`full`, `partial` and `none`: the probabilities that it says everything in the claim, "
        "some of it, or nothing of it or the contrary. They add up to 1.",
        "`usefulness`: how much the claim helps with the task of the text, from 1 (not at all) to "
        "5 (very much).",
    ),
    example="A passage that says `the tower is 300 m high` supports the claim `the tower, opened "
    "in 1889, is 300 m high` in part.",
)
_ASKED = "How far does each passage support the claim?"
_LONGEST_QUOTE = 200
"""Characters of a passage's words in an issue."""


class _Evidence(NamedTuple):
    """What the relevant passage with the highest score says about a claim."""

    claim: Claim
    passage: Passage[Document]
    supports: Support
    score: float
    words: str
    """Those of the passage that decide; empty where it has none."""


def _check_retriever(retriever: Any) -> Any:
    if retriever is not None and not isinstance(retriever, Retriever):
        raise ValueError(
            f"should be an object with a method `retrieve`, not {type(retriever).__name__}"
        )
    return retriever


class SelfRAGCritic(JudgingCritic):
    """Checks every claim of the text against the passages of documents.

    Self-RAG (Asai et al. 2023, arXiv 2310.11511): for each claim that needs evidence, relevance
    (ISREL) and support (ISSUP) of each passage and its usefulness (ISUSE) as probabilities, and
    their weighted score. The documents are those of the version, and what the retriever finds for
    its text. A claim about which no passage speaks has no evidence: that is on record and is
    neither support nor an issue. Without any document it abstains with `no_evidence` and asks no
    model. `1 + claims` model calls, depth two; the revision is the chain's.
    """

    type: Literal["self_rag"] = "self_rag"
    name: Name = "self_rag"
    retriever: Annotated[Any, AfterValidator(_check_retriever)] = Field(default=None, exclude=True)
    """A `Retriever` to ask besides; an object, so no part of the spec as data."""
    max_claims: int = Field(default=8, ge=1, le=50)
    """Those that need evidence most; the others are reported as unchecked."""
    max_passages: int = Field(default=5, ge=1, le=20)
    """Passages for each claim, those that have most words in common with it."""

    def calls(self, text: str = "") -> int:
        """One for the claims, one for a claim."""
        return 2

    def spec(self) -> Mapping[str, object]:
        """Its type and its options; with a retriever, which is an object, it is code."""
        return super().spec() if self.retriever is None else code_spec(self)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The support of the claims; see `Critic`.

        A claim whose call fails is on record in `degraded`. When half of the claims or more have no
        answer, and no claim is refuted, there is no vote.
        """
        documents = (*thought.pre_generation_context, *thought.post_generation_context)
        if self.retriever is not None:
            documents += tuple(await self.retriever.retrieve(thought.text, self.max_passages))
        passages = passages_of(documents)
        if not passages:
            return self._abstain("there are no documents")
        with scope("claims"):
            reply = await claims_in(thought.text, self._open_model(self.model), task=thought.prompt)
        needing = [each for each in reply.claims if each.need >= NEEDS_EVIDENCE]
        claims = sorted(needing, key=lambda each: -each.need)[: self.max_claims]
        if not claims:
            return self._abstain("the text makes no claim that needs any", reply.usage)
        named = {f"claim {number}": claim for number, claim in enumerate(claims, 1)}
        replies = await ask_all(
            {
                name: partial(
                    self._judge, thought, claim, nearest(claim.text, passages, self.max_passages)
                )
                for name, claim in named.items()
            }
        )
        usage = reply.usage + replies.usage
        issues = tuple(_issue(e) for e in replies.answers.values() if e and e.supports != "full")
        if len(replies.failures) * 2 >= len(claims) and not issues:
            return no_answer(self.name, replies).model_copy(
                update={"usage": usage, "degraded": replies.degraded}
            )
        described = [_describe_claim(name, claim, replies) for name, claim in named.items()]
        with_evidence = sum(each is not None for each in replies.answers.values())
        if not with_evidence:
            reason = "; ".join(("no passage speaks about its claims", *replies.degraded[:1]))
            return self._abstain(reason, usage, described).model_copy(
                update={"degraded": replies.degraded}
            )
        unchecked = len(needing) - len(claims)
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if issues else "accept",
            scores={"support": round(1 - len(issues) / with_evidence, 3)},
            issues=issues,
            details={"verdict": "unsupported" if issues else "supported", "claims": described},
            degraded=(
                *replies.degraded,
                *([f"{unchecked} further claims were not checked"] if unchecked else []),
            ),
            usage=usage,
        )

    async def _judge(
        self, thought: Thought, claim: Claim, passages: Sequence[Passage[Document]]
    ) -> tuple[_Evidence | None, Usage]:
        """What the passages say about a claim; None where none of them speaks about it."""
        parts = [frame("task", thought.prompt, lasting=True)] if thought.prompt else []
        for number, each in enumerate(passages, 1):
            words = f"{each.document.title}\n{each.text}"
            parts += (f"Passage {number}:", frame("passage", words, lasting=True))
        parts += (frame("claim", claim.text), _ASKED)
        answer, usage = await self._ask(PROMPT, "\n\n".join(parts), Reflections)
        numbered = dict(enumerate(passages, 1))
        judged = [each for each in answer.passages if each.passage in numbered]
        if not judged:
            raise ModelProviderError("the answer is about other passages", error_code="malformed")
        relevant = [each for each in judged if each.relevant >= 0.5]
        best = max(relevant, key=answer.score, default=None)
        if best is None:
            return None, usage
        passage = numbered[best.passage]
        span = anchor(passage.text, best.quote) or (0, 0)
        words = passage.text[slice(*span)][:_LONGEST_QUOTE]
        return _Evidence(claim, passage, best.supports, answer.score(best), words), usage

    def _abstain(
        self,
        reason: str,
        usage: Usage | None = None,
        described: Sequence[Mapping[str, object]] = (),
    ) -> CriticFeedback:
        details = {"verdict": "no_evidence", **({"claims": described} if described else {})}
        return CriticFeedback.abstain(self.name, f"no_evidence: {reason}", usage, details)


def _describe_claim(
    name: str, claim: Claim, replies: Replies[_Evidence | None]
) -> Mapping[str, object]:
    data: dict[str, object] = {"claim": claim.text[:500], "quote": claim.quote[:200]}
    if (best := replies.answers.get(name)) is None:
        return data | {"support": "no_evidence" if name in replies.answers else "not_judged"}
    document = best.passage.document
    return data | {
        "support": best.supports,
        "score": round(best.score, 3),
        "document": {"id": document.id, "title": document.title},
        "words": best.words,
    }


def _issue(best: _Evidence) -> Issue:
    claim, partly = best.claim, best.supports == "partial"
    says = f", which says {best.words!r}" if best.words else ""
    message = (
        f"{'only partly supported' if partly else 'not supported'} by "
        f"{best.passage.source[:100]!r}{says}: {claim.text[:300]}"
    )
    return Issue(
        message=message,
        quote=claim.quote[:QUOTE_LIMIT],
        start=claim.start,
        end=claim.end,
        category="evidence",
        severity=3 if partly else 4,
        rule="evidence",
    )
