"""The form in which a model gives an opinion, and how it becomes feedback."""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from sifaka.models.coercion import Form, Number, Whole
from sifaka.models.framing import frame
from sifaka.models.section_note import section_note
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.text.anchoring import Anchors

MOST_ISSUES = 50
"""Of one opinion; further ones are left out."""
MOST_SUGGESTIONS = 20
LONGEST_REMARK = 500
"""Characters of a message or a suggestion."""
_MOST_SCORES = 20
_LONGEST_NAME = 60
_LONGEST_FIX = 5_000
_SECTION = (
    "Judge this section as a part of that document: what belongs into other sections is not "
    "missing here."
)


class FoundIssue(Form):
    """One thing that is wrong with one place of the text."""

    quote: str = Field(default="", description="the words of the text it is about, copied exactly")
    message: str = Field(description="what is wrong and how to mend it, one sentence")
    category: str = Field(default="general", description="one word")
    severity: Whole = Field(default=3, ge=1, le=5, description="1 taste ... 5 unusable")
    fix: str | None = Field(default=None, description="what to write instead of the quote")


class Opinion(Form):
    """Your judgement of the text."""

    verdict: Literal["accept", "revise"]
    scores: dict[str, Number] = Field(
        default_factory=dict[str, float], description="0 to 1 for each aspect you were asked about"
    )
    issues: list[FoundIssue] = Field(default_factory=list[FoundIssue])
    suggestions: list[str] = Field(
        default_factory=list[str], description="what to change that no single quote shows"
    )
    confidence: Number | None = Field(default=None, ge=0, le=1)


def case(thought: Thought) -> str:
    """The material for a judge: the task, the documents and the text, each framed as data.

    The author of the text and earlier opinions on it are left out.
    """
    parts = [frame("task", thought.prompt)] if thought.prompt else []
    documents = (*thought.pre_generation_context, *thought.post_generation_context)
    parts += [frame("document", f"{d.title}\n{d.text}") for d in documents]
    parts += section_note(thought, _SECTION)
    parts.append(frame("text", thought.text))
    return "\n\n".join(parts)


def feedback_of(
    critic: str,
    opinion: Opinion,
    thought: Thought,
    usage: Usage | None = None,
    details: Mapping[str, object] | None = None,
) -> CriticFeedback:
    """The feedback an opinion amounts to: quotes anchored, numbers and lengths bounded."""
    return CriticFeedback(
        critic=critic,
        verdict=opinion.verdict,
        scores={
            aspect[:_LONGEST_NAME]: min(1.0, max(0.0, score))
            for aspect, score in list(opinion.scores.items())[:_MOST_SCORES]
        },
        issues=anchored(opinion.issues, thought.text),
        suggestions=bounded(opinion.suggestions),
        confidence=opinion.confidence,
        details=details or {},
        usage=usage or Usage(),
    )


def on_record(
    feedback: CriticFeedback, details: Mapping[str, object], **changes: object
) -> CriticFeedback:
    """The feedback with other details and other changes; the details are read-only like all."""
    frozen = CriticFeedback(details=details).details
    return feedback.model_copy(update={**changes, "details": frozen})


def bounded(suggestions: Iterable[str]) -> tuple[str, ...]:
    """Different suggestions, not too many and none too long."""
    given = (suggestion.strip()[:LONGEST_REMARK] for suggestion in suggestions)
    return tuple(dict.fromkeys(filter(None, given)))[:MOST_SUGGESTIONS]


def anchored(
    found: Iterable[FoundIssue], text: str, *, rule: str | None = None
) -> tuple[Issue, ...]:
    """Issues at the places they quote; one whose quote is not in the text has no place."""
    anchors = Anchors(text)
    told = [issue for issue in found if issue.message.strip()]
    return tuple(_issue(issue, text, anchors, rule) for issue in told[:MOST_ISSUES])


def _issue(found: FoundIssue, text: str, anchors: Anchors, rule: str | None) -> Issue:
    message = found.message.strip()[:LONGEST_REMARK]
    category = found.category.strip().casefold()[:_LONGEST_NAME] or "general"
    span = anchors.find(found.quote)
    if span is None:
        # Without a place there is nothing that a fix could replace.
        quote = found.quote[:200]
        return Issue(
            message=message, quote=quote, category=category, severity=found.severity, rule=rule
        )
    fix = found.fix
    if fix is not None and (len(fix) > _LONGEST_FIX or fix == text[slice(*span)]):
        fix = None
    return Issue.at(
        text, *span, message, category=category, severity=found.severity, fix=fix, rule=rule
    )
