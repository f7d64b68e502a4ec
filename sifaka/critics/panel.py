"""Asking several times at once, and what the answers have in common."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Generic, TypeVar

from sifaka.calls.context import fan_out
from sifaka.calls.recovery import code_of
from sifaka.critics.opinion import MOST_ISSUES, bounded
from sifaka.errors import BudgetExceeded, ModelProviderError, SifakaError
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
    limits = [error.limit for error in failures if isinstance(error, BudgetExceeded)]
    if limits:
        return {"limit": limits[0]}
    codes = {code_of(error) for error in failures}
    waits = [error.retry_after for error in failures if error.retry_after]
    return {
        **({"code": codes.pop()} if len(codes) == 1 else {}),
        **({"retry_after": max(waits)} if waits else {}),
    }


def votes(feedback: Sequence[CriticFeedback]) -> dict[Verdict, int]:
    """The number of opinions that ask for a revision, and of those that do not."""
    revise = sum(each.verdict == "revise" for each in feedback)
    return {"accept": len(feedback) - revise, "revise": revise}


def verdict_of(counted: Mapping[Verdict, int]) -> Verdict:
    """`revise` when more than half ask for it."""
    return "revise" if counted["revise"] > counted["accept"] else "accept"


def mean_scores(feedback: Sequence[CriticFeedback]) -> dict[str, float]:
    """The mean score of each aspect, over those that scored it."""
    aspects = dict.fromkeys(aspect for each in feedback for aspect in each.scores)
    return {
        aspect: round(fmean(f.scores[aspect] for f in feedback if aspect in f.scores), 3)
        for aspect in aspects
    }


def covered_by(feedback: Sequence[CriticFeedback]) -> Mapping[str, object]:
    """The words that cover open differences, as one of them or another has quoted them."""
    return {COVERED: quotes} if (quotes := covered_in(feedback)) else {}


def findings_of(feedback: Sequence[CriticFeedback]) -> list[list[Issue]]:
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


def strongest(issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """The issues with the most support, then the gravest; no more than one opinion may have."""
    ranked = sorted(range(len(issues)), key=lambda at: (-issues[at].support, -issues[at].severity))
    return tuple(issues[at] for at in sorted(ranked[:MOST_ISSUES]))
