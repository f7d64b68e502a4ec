"""The form in which a model gives an opinion, how it becomes feedback, and what several say."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field

from sifaka.calls.context import fan_out
from sifaka.errors import BudgetExceeded, ModelProviderError, SifakaError, code_of
from sifaka.models.prompt import frame, original_of, rules_of, section_note
from sifaka.models.structured import Form, Number, Whole
from sifaka.record.results import COVERED, CriticFeedback, Issue, Verdict, covered_in
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
    documents = thought.pre_generation_context
    parts += [frame("document", f"{d.title}\n{d.text}", lasting=True) for d in documents]
    parts += original_of(thought)
    parts += standards
    parts += [frame("document", f"{d.title}\n{d.text}") for d in thought.post_generation_context]
    parts += section_note(thought, _SECTION)
    parts.append(frame("text", thought.text))
    parts += rules_of(thought)
    if unanswered := _list_open(thought):
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
        details={**(details or {}), **_find_covered(opinion, thought)},
        usage=usage or Usage(),
    )


def _find_covered(opinion: Opinion, thought: Thought) -> Mapping[str, object]:
    """The words that cover open differences, where they are in the task or in a document."""
    open_ = {each.id: each for each in _list_open(thought)}
    if not open_:
        return {}
    documents = (*thought.pre_generation_context, *thought.post_generation_context)
    texts = [_fold(text) for text in (thought.prompt, *(each.text for each in documents))]
    quotes = {each.id.strip(): each.quote.strip()[:LONGEST_REMARK] for each in opinion.covered}
    return {
        COVERED: {
            id_: quote
            for id_, quote in quotes.items()
            if id_ in open_ and _asks(quote, open_[id_]) and any(_fold(quote) in p for p in texts)
        }
    }


def _fold(text: str) -> str:
    """The words between spaces, by which a quote is looked up."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _asks(quote: str, difference: Difference) -> bool:
    """True for words that can ask for a difference: a single word that is not its own cannot."""
    words = _WORD.findall(quote)
    named = _fold(quote) in {_fold(difference.before), _fold(difference.after)}
    return len(words) > 1 or named or any(map(str.isdigit, "".join(words)))


def _list_open(thought: Thought) -> list[Difference]:
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
    shortened = (suggestion.strip()[:LONGEST_REMARK] for suggestion in suggestions)
    return tuple(dict.fromkeys(filter(None, shortened)))[:MOST_SUGGESTIONS]


def anchored(issues: Iterable[FoundIssue], text: str) -> tuple[Issue, ...]:
    """Issues at the places they quote; one whose quote is not in the text has no place."""
    kept = [issue for issue in issues if _squeeze(issue.message) not in {"", _squeeze(issue.quote)}]
    return tuple(_issue(issue, text) for issue in kept[:MOST_ISSUES])


def _squeeze(words: str) -> str:
    """The words without case, punctuation and spaces; what only repeats a quote says nothing."""
    return "".join(_WORD.findall(words)).casefold()


def _issue(answer: FoundIssue, text: str) -> Issue:
    message = answer.message.strip()[:LONGEST_REMARK]
    category = answer.category.strip().casefold()[:_LONGEST_NAME] or "general"
    about: dict[str, Any] = {"category": category, "severity": answer.severity}
    span = anchor(text, answer.quote)
    if span is None:
        # Without a place there is nothing that a fix could replace.
        return Issue(message=message, quote=answer.quote[:200], **about)
    is_useful = len(answer.fix or "") <= _LONGEST_FIX and answer.fix != text[slice(*span)]
    return Issue.at(text, *span, message, **about, fix=answer.fix if is_useful else None)


# --- several opinions ---

T = TypeVar("T")
BranchError = ModelProviderError | BudgetExceeded
_SUGGESTION = "suggestion"
"""The category of a suggestion among findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies(Generic[T]):
    """The replies of a panel."""

    answers: Mapping[str, T]
    """By the name of the branch, in the order of the branches."""
    failures: Mapping[str, BranchError]
    """The error of each branch without an answer."""
    usage: Usage

    @property
    def degraded(self) -> tuple[str, ...]:
        """One line for each branch without an answer."""
        return tuple(f"{name}: {error.message}" for name, error in self.failures.items())


async def ask_all(branches: Mapping[str, Callable[[], Awaitable[tuple[T, Usage]]]]) -> Replies[T]:
    """Ask in parallel; a branch that fails is one without an answer, and costs no other its own.

    Raises:
        BudgetExceeded: There is no room for all calls, and none was made; or no branch has an
            answer, and one of them because a further call had no room.
        StorageError: An answer could not be put on record.
    """
    results = await fan_out({name: partial(attempt, branch) for name, branch in branches.items()})
    came = dict(zip(branches, results, strict=True))
    answered = {name: result for name, result in came.items() if isinstance(result, tuple)}
    failures = {name: result for name, result in came.items() if not isinstance(result, tuple)}
    spent = [error for error in failures.values() if isinstance(error, BudgetExceeded)]
    if spent and not answered:
        raise spent[0]
    return Replies(
        answers={name: answer for name, (answer, _) in answered.items()},
        failures=failures,
        usage=sum((usage for _, usage in answered.values()), Usage()),
    )


async def attempt(
    branch: Callable[[], Awaitable[tuple[T, Usage]]],
) -> tuple[T, Usage] | BranchError:
    """The answer of a branch, or the error for which it has none."""
    try:
        return await branch()
    except (ModelProviderError, BudgetExceeded) as error:
        return error


def no_answer(critic: str, replies: Replies[T]) -> CriticFeedback:
    """The abstention of a panel from which no answer came, or too few.

    What it failed with is in its details, as for a critic that raises: a `limit` of the budget, or
    the `code` that all failures share and the longest `retry_after`.
    """
    reason = next(iter(replies.degraded), "no model was asked")
    return CriticFeedback.abstain(
        critic, f"no answer: {reason}", replies.usage, failed_with(list(replies.failures.values()))
    )


def abstention(critic: str, error: SifakaError) -> CriticFeedback:
    """The abstention of a critic that has failed with an error."""
    return CriticFeedback.abstain(critic, str(error), details=failed_with([error]))


def failed_with(failures: Sequence[SifakaError]) -> dict[str, object]:
    """The `limit` that a budget has come to, or the common `code` and longest `retry_after`."""
    return shared_failure(
        {"limit": error.limit}
        if isinstance(error, BudgetExceeded)
        else {"code": code_of(error), "retry_after": error.retry_after}
        for error in failures
    )


def shared_failure(failures: Iterable[Mapping[str, Any]]) -> dict[str, object]:
    """What the details of several failures have in common; see `failed_with`."""
    details = list(failures)
    if limits := [each["limit"] for each in details if "limit" in each]:
        return {"limit": limits[0]}
    codes = {each["code"] for each in details if "code" in each}
    waits = [each["retry_after"] for each in details if each.get("retry_after")]
    return {
        **({"code": codes.pop()} if len(codes) == 1 else {}),
        **({"retry_after": max(waits)} if waits else {}),
    }


def agreed(
    critic: str,
    replies: Replies[CriticFeedback],
    findings: Sequence[Issue],
    **details: object,
) -> CriticFeedback:
    """The joint feedback of opinions: `revise` when more than half of them ask for it.

    Args:
        critic: The critic's name.
        replies: The opinions, one at least.
        findings: What is reported of what they found.
        details: More for the record.
    """
    feedback = list(replies.answers.values())
    revise = sum(each.verdict == "revise" for each in feedback)
    votes = {"accept": len(feedback) - revise, "revise": revise}
    verdict: Verdict = "revise" if revise > votes["accept"] else "accept"
    issues, suggestions = reported(findings)
    aspects = dict.fromkeys(aspect for each in feedback for aspect in each.scores)
    return CriticFeedback(
        critic=critic,
        verdict=verdict,
        scores={
            aspect: round(fmean(f.scores[aspect] for f in feedback if aspect in f.scores), 3)
            for aspect in aspects
        },
        issues=issues,
        suggestions=suggestions,
        confidence=votes[verdict] / len(feedback),
        details={
            "votes": votes,
            "agreement": f"{votes[verdict]}/{len(feedback)}",
            **details,
            **covered_by(feedback),
        },
        degraded=replies.degraded,
        usage=replies.usage,
    )


def covered_by(feedback: Sequence[CriticFeedback]) -> Mapping[str, object]:
    """The words that cover open differences, as one of them or another has quoted them."""
    return {COVERED: quotes} if (quotes := covered_in(feedback)) else {}


def findings_of(feedback: Iterable[CriticFeedback]) -> list[list[Issue]]:
    """What each opinion reports; a suggestion is an issue without a quote."""
    return [
        [
            *each.issues,
            *(Issue(message=s, category=_SUGGESTION, severity=1) for s in each.suggestions),
        ]
        for each in feedback
    ]


def reported(findings: Sequence[Issue]) -> tuple[tuple[Issue, ...], tuple[str, ...]]:
    """The issues among findings, and the suggestions; no more than one opinion may have."""
    issues = [each for each in findings if each.quote or each.category != _SUGGESTION]
    suggestions = (e.message for e in findings if not e.quote and e.category == _SUGGESTION)
    return strongest(issues), bounded(suggestions)


def strongest(issues: Sequence[Issue], most: int = MOST_ISSUES) -> tuple[Issue, ...]:
    """So many of the issues: those with the most support, then the gravest."""
    ranked = sorted(range(len(issues)), key=lambda at: (-issues[at].support, -issues[at].severity))
    return tuple(issues[at] for at in sorted(ranked[:most]))
