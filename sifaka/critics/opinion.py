"""The form in which a model gives an opinion, and how it becomes feedback."""

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from sifaka.anchoring import anchor
from sifaka.models.framing import frame
from sifaka.results import CriticFeedback, Issue
from sifaka.thought import Thought

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse


class FoundIssue(BaseModel):
    """One thing that is wrong with one place of the text."""

    quote: str = Field(description="the words of the text it is about, copied exactly")
    message: str = Field(description="what is wrong and how to mend it, one sentence")
    category: str = Field(default="general", description="one word")
    severity: int = Field(default=3, ge=1, le=5, description="1 taste ... 5 unusable")
    fix: str | None = Field(default=None, description="what to write instead of the quote")


class Opinion(BaseModel):
    """Your judgement of the text."""

    verdict: Literal["accept", "revise"]
    scores: dict[str, float] = Field(
        default_factory=dict[str, float], description="0 to 1 for each aspect you were asked about"
    )
    issues: list[FoundIssue] = Field(default_factory=list[FoundIssue])
    suggestions: list[str] = Field(
        default_factory=list[str], description="what to change that no single quote shows"
    )
    confidence: float | None = Field(default=None, ge=0, le=1)


def case(thought: Thought) -> str:
    """What a judge is shown: the task, the documents and the text, each framed as data."""
    parts = [f"Task of the text: {thought.prompt}"] if thought.prompt else []
    documents = (*thought.pre_generation_context, *thought.post_generation_context)
    parts += [frame("document", f"{d.title}\n{d.text}") for d in documents]
    parts.append(frame("text", thought.text))
    return "\n\n".join(parts)


def feedback_of(
    critic: str, opinion: Opinion, thought: Thought, response: "ModelResponse"
) -> CriticFeedback:
    """The feedback an opinion amounts to: quotes anchored, scores clipped to 0..1."""
    from sifaka.models.metered import usage_of

    return CriticFeedback(
        critic=critic,
        verdict=opinion.verdict,
        scores={aspect: min(1.0, max(0.0, score)) for aspect, score in opinion.scores.items()},
        issues=tuple(_anchored(found, thought.text) for found in opinion.issues),
        suggestions=tuple(s for s in opinion.suggestions if s.strip()),
        confidence=opinion.confidence,
        usage=usage_of(response),
    )


def _anchored(found: FoundIssue, text: str) -> Issue:
    issue = Issue(
        message=found.message,
        quote=found.quote,
        category=found.category,
        severity=found.severity,
        fix=found.fix,
    )
    span = anchor(text, found.quote)
    if span is None:
        return issue
    start, end = span
    return issue.model_copy(update={"quote": text[start:end], "start": start, "end": end})
