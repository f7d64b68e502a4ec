"""The form in which a model gives an opinion, and how it becomes feedback."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field

from sifaka.models.prompt import frame, original_of, rules_of, section_note
from sifaka.models.structured import Form, Number, Whole
from sifaka.record.results import COVERED, CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.text.anchoring import anchor
from sifaka.text.differences import Difference

MOST_ISSUES = 50
"""Of one opinion; further ones are left out."""
MOST_SUGGESTIONS = 20
_COVERED = (
    "The `differences` were measured. For each that the task or a document asks for, put its id "
    "with the words that ask for it into `covered`; leave out the others."
)
LONGEST_REMARK = 500
"""Characters of a message or a suggestion."""
_MOST_SCORES = 20
_LONGEST_NAME = 60
_LONGEST_FIX = 5_000
_SECTION = "Judge the section as a part of that document. What other sections say is not missing."
_WORD = re.compile(r"\w+")


class FoundIssue(Form):
    """One thing that is wrong with one place of the text."""

    quote: str = Field(default="", description="the words of the text, copied exactly")
    message: str = Field(description="what is wrong and how to mend it, in one sentence")
    category: str = Field(default="general", description="the kind of issue, one word")
    severity: Whole = Field(default=3, ge=1, le=5, description="1 taste ... 5 unusable")
    fix: str | None = Field(default=None, description="the words to write instead of the quote")


class CoveredDifference(Form):
    """A difference that the task, or a document, asks for."""

    id: str = Field(description="its id, such as d1")
    quote: str = Field(description="the words of the task or the document, copied exactly")


class Opinion(Form):
    """Your judgement of the text."""

    # The reasons come before the verdict: a model writes the fields in this order.
    covered: list[CoveredDifference] = Field(
        default_factory=list[CoveredDifference],
        description="of `differences`, if shown, those that the task or a document asks for",
    )
    issues: list[FoundIssue] = Field(
        default_factory=list[FoundIssue], description="empty when nothing should be changed"
    )
    suggestions: list[str] = Field(
        default_factory=list[str], description="changes to the whole that no single quote shows"
    )
    scores: dict[str, Number] = Field(
        default_factory=dict[str, float], description="0 to 1 for each aspect you were asked about"
    )
    verdict: Literal["accept", "revise"]
    confidence: Annotated[Number, Field(ge=0, le=1)] | None = Field(
        default=None, description="0 to 1: how sure you are of the verdict"
    )


def case(thought: Thought, *standards: str) -> str:
    """The material for a judge, each part framed as data.

    What all versions share comes first, so that providers can cache it: the task, the documents
    that the writer had, the original, the standards. Then come what was found for this version and
    its text. The author of the text and earlier opinions on it are left out.

    Args:
        thought: The version.
        standards: The standards to judge it by, framed.
    """
    parts = [frame("task", thought.prompt, lasting=True)] if thought.prompt else []
    given = thought.pre_generation_context
    parts += [frame("document", f"{d.title}\n{d.text}", lasting=True) for d in given]
    parts += original_of(thought)
    parts += standards
    found = thought.post_generation_context
    parts += [frame("document", f"{d.title}\n{d.text}") for d in found]
    parts += section_note(thought, _SECTION)
    parts.append(frame("text", thought.text))
    parts += rules_of(thought)
    if unanswered := _unanswered(thought):
        lines = [f"{each.id} ({each.kind}): {each.words}" for each in unanswered]
        parts += (frame("differences", "\n".join(lines)), _COVERED)
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
        details={**(details or {}), **_covered(opinion, thought)},
        usage=usage or Usage(),
    )


def _covered(opinion: Opinion, thought: Thought) -> Mapping[str, object]:
    """The words that cover open differences, where they stand in the task or in a document."""
    asked = {each.id: each for each in _unanswered(thought)}
    if not asked:
        return {}
    documents = (*thought.pre_generation_context, *thought.post_generation_context)
    places = [_plain(text) for text in (thought.prompt, *(each.text for each in documents))]
    quotes = {each.id.strip(): each.quote.strip()[:LONGEST_REMARK] for each in opinion.covered}
    found = {
        id_: quote
        for id_, quote in quotes.items()
        if id_ in asked and _says(quote, asked[id_]) and any(_plain(quote) in p for p in places)
    }
    return {COVERED: found}


def _plain(text: str) -> str:
    """The words between spaces, by which a quote is looked up."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _says(quote: str, difference: Difference) -> bool:
    """True for words that can ask for a difference: one word that is none of its own cannot."""
    words = _WORD.findall(quote)
    named = _plain(quote) in {_plain(difference.before), _plain(difference.after)}
    return len(words) > 1 or named or any(map(str.isdigit, "".join(words)))


def _unanswered(thought: Thought) -> list[Difference]:
    """The open differences that words can ask for; those of a limit ask for the contrary."""
    return [each for each in thought.findings.open if each.kind != "length"]


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


def anchored(found: Iterable[FoundIssue], text: str) -> tuple[Issue, ...]:
    """Issues at the places they quote; one whose quote is not in the text has no place."""
    told = [issue for issue in found if _bare(issue.message) not in {"", _bare(issue.quote)}]
    return tuple(_issue(issue, text) for issue in told[:MOST_ISSUES])


def _bare(words: str) -> str:
    """The words without case, punctuation and spaces; what only repeats a quote says nothing."""
    return "".join(_WORD.findall(words)).casefold()


def _issue(found: FoundIssue, text: str) -> Issue:
    message = found.message.strip()[:LONGEST_REMARK]
    category = found.category.strip().casefold()[:_LONGEST_NAME] or "general"
    span = anchor(text, found.quote)
    if span is None:
        # Without a place there is nothing that a fix could replace.
        quote = found.quote[:200]
        return Issue(message=message, quote=quote, category=category, severity=found.severity)
    fix = found.fix
    if fix is not None and (len(fix) > _LONGEST_FIX or fix == text[slice(*span)]):
        fix = None
    return Issue.at(text, *span, message, category=category, severity=found.severity, fix=fix)
