"""Asking several times at once, and what the answers have in common."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Generic, TypeVar

from sifaka.clustering import cluster
from sifaka.concurrency import fan_out
from sifaka.critics.opinion import MOST_ISSUES
from sifaka.errors import ModelProviderError
from sifaka.results import CriticFeedback, Issue, Usage, Verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies(Generic[T]):
    """What came back from a panel."""

    answers: Mapping[str, T]
    """By the name of the branch, in the order of the branches."""
    failures: Mapping[str, str]
    """Why a branch has no answer, in one line."""
    usage: Usage

    @property
    def degraded(self) -> tuple[str, ...]:
        """One line for each branch without an answer."""
        return tuple(f"{name}: {reason}" for name, reason in self.failures.items())


async def ask_all(branches: Mapping[str, Callable[[], Awaitable[tuple[T, Usage]]]]) -> Replies[T]:
    """Ask in parallel; a branch whose model fails is one without an answer.

    Raises:
        BudgetExceeded: There is no room for all calls; none was made.
        StorageError: An answer could not be put on record.
    """

    def tolerant(
        branch: Callable[[], Awaitable[tuple[T, Usage]]],
    ) -> Callable[[], Awaitable[tuple[T, Usage] | str]]:
        async def ask() -> tuple[T, Usage] | str:
            try:
                return await branch()
            except ModelProviderError as error:
                return error.message

        return ask

    results = await fan_out({name: tolerant(branch) for name, branch in branches.items()})
    replies = dict(zip(branches, results, strict=True))
    answered = {name: reply for name, reply in replies.items() if not isinstance(reply, str)}
    return Replies(
        answers={name: answer for name, (answer, _) in answered.items()},
        failures={name: reply for name, reply in replies.items() if isinstance(reply, str)},
        usage=sum((usage for _, usage in answered.values()), Usage()),
    )


def nobody(critic: str, replies: Replies[T]) -> CriticFeedback:
    """The abstention of a panel from which no answer came."""
    reason = next(iter(replies.degraded), "nobody was asked")
    return CriticFeedback.abstain(critic, f"no answer: {reason}", replies.usage)


def votes(feedback: Sequence[CriticFeedback]) -> dict[Verdict, int]:
    """How many ask for a revision and how many do not."""
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


def shared_suggestions(feedback: Sequence[CriticFeedback], least: float) -> tuple[str, ...]:
    """Suggestions that more than `least` of them make, in whatever words."""
    groups = [[Issue(message=suggestion) for suggestion in each.suggestions] for each in feedback]
    return tuple(issue.message for issue in cluster(groups) if issue.support > least)


def strongest(issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """The issues with the most support, then the gravest; no more than one opinion may have."""
    ranked = sorted(range(len(issues)), key=lambda at: (-issues[at].support, -issues[at].severity))
    return tuple(issues[at] for at in sorted(ranked[:MOST_ISSUES]))
