"""Asking several times at once, and what the answers have in common."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, Generic, TypeVar

from sifaka.calls.context import fan_out
from sifaka.critics.opinion import MOST_ISSUES, bounded
from sifaka.errors import BudgetExceeded, ModelProviderError, SifakaError, code_of
from sifaka.record.results import COVERED, CriticFeedback, Issue, Verdict, covered_in
from sifaka.record.usage import Usage

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
    return gathered(dict(zip(branches, results, strict=True)))


async def attempt(
    branch: Callable[[], Awaitable[tuple[T, Usage]]],
) -> tuple[T, Usage] | BranchError:
    """The answer of a branch, or the error for which it has none."""
    try:
        return await branch()
    except (ModelProviderError, BudgetExceeded) as error:
        return error


def gathered(results: Mapping[str, tuple[T, Usage] | BranchError]) -> Replies[T]:
    """The replies that the results of `attempt` amount to.

    Raises:
        BudgetExceeded: No branch has an answer, and one of them for that reason.
    """
    answered = {name: result for name, result in results.items() if isinstance(result, tuple)}
    failures = {name: result for name, result in results.items() if not isinstance(result, tuple)}
    if not answered:
        for error in failures.values():
            if isinstance(error, BudgetExceeded):
                raise error
    return Replies(
        answers={name: answer for name, (answer, _) in answered.items()},
        failures=failures,
        usage=sum((usage for _, usage in answered.values()), Usage()),
    )


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
    told = list(failures)
    if limits := [each["limit"] for each in told if "limit" in each]:
        return {"limit": limits[0]}
    codes = {each["code"] for each in told if "code" in each}
    waits = [each["retry_after"] for each in told if each.get("retry_after")]
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
