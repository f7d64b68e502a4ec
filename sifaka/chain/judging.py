"""Judges: which of two versions is better, asked in both orders."""

from functools import partial
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, Field

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import fan_out
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models.prompt import Prompt, frame, original_of, with_original
from sifaka.record.thought import Thought

LONGEST = 3
"""Repeats at most, for each by which one text has to lead."""


class Votes(Frozen):
    """The outcome of the repeats of a comparison."""

    candidate: int = 0
    champion: int = 0
    undecided: int = 0
    """Repeats whose two orders disagree, see no difference, or got no answer."""
    unanswered: int = 0
    """Those of `undecided` that got no answer in at least one order."""
    broke_off: str | None = None
    """The reason that further repeats were not made, although the outcome is not clear."""

    @property
    def repeats(self) -> int:
        """The number of comparisons of the two."""
        return self.candidate + self.champion + self.undecided

    @property
    def lead(self) -> int:
        """Repeats that prefer the candidate, less those that prefer the champion."""
        return self.candidate - self.champion

    def __add__(self, other: "Votes") -> "Votes":
        return Votes(
            candidate=self.candidate + other.candidate,
            champion=self.champion + other.champion,
            undecided=self.undecided + other.undecided,
            unanswered=self.unanswered + other.unanswered,
        )


class VoteRule(Protocol):
    """Says how many repeats a comparison still needs."""

    def missing(self, votes: Votes) -> int:
        """The repeats to make next, at the same time; 0 when the outcome is clear."""
        ...


class Majority(Frozen):
    """The candidate needs more than half of the repeats; none is made that cannot change that.

    Curtailed sampling (Wald 1947, Sequential Analysis): the decision is that of all repeats.
    """

    repeats: int

    def missing(self, votes: Votes) -> int:
        """See `VoteRule`."""
        needed = self.repeats // 2 + 1 - votes.candidate
        left = self.repeats - votes.repeats
        return needed if 0 < needed <= left else 0


class Lead(Frozen):
    """One text has to lead by so many repeats, and at most `LONGEST` times as many are made.

    Wald's sequential probability ratio test (1945, doi 10.1214/aoms/1177731118) of "a decisive
    repeat is right with probability J" against 1 - J: each decisive repeat multiplies the odds by
    J / (1 - J) or divides them by it, so the odds depend on the lead alone, and a lead of k leaves
    a risk of at most `1 / (1 + (J / (1 - J))^k)`.
    """

    by: int
    in_doubt: bool = False
    """True when the candidate wins without a clear lead; else the champion does."""

    def accepts(self, votes: Votes) -> bool:
        """True when the candidate wins."""
        return votes.lead > -self.by if self.in_doubt else votes.lead >= self.by

    def missing(self, votes: Votes) -> int:
        """See `VoteRule`. As many as a clear lead needs at least, so none is made in vain."""
        left = LONGEST * self.by - votes.repeats
        needed = self.by - abs(votes.lead)
        against = votes.lead if self.in_doubt else -votes.lead
        hopeless = left < self.by + against  # the side that has to show its lead cannot any more
        return 0 if hopeless or needed <= 0 else min(needed, left)


Preference = Literal["first", "second", "neither"]

PROMPT = Prompt(
    purpose="Chooses the better one of two versions of a text.",
    task="You compare two versions of a text, `first` and `second`. Choose the version that serves "
    "its task and its readers better.",
    rules=(
        "The task counts most: the better version does what it asks.",
        "Facts come next. A version that invents facts is worse. If `original` is shown, so is a "
        "version that loses or changes its facts, numbers, names, quotations or links, unless the "
        "task asks for that.",
        "Then prefer the version that is more complete, clearer, and as short as it can be.",
        "Their order and their length say nothing.",
        "Give the reason in one or two sentences. Then choose `first`, `second`, or `neither` when "
        "neither is clearly better.",
    ),
)
_ASKED = "Which version is better?"


@runtime_checkable
class Judge(Protocol):
    """Compares two versions of a text."""

    async def compare(self, first: Thought, second: Thought) -> Preference:
        """Compares two versions.

        Raises:
            ModelProviderError: It could not say.
        """
        ...


class BesideOriginal:
    """A judge that is shown the original of a run beside the two versions.

    Args:
        judge: Compares.
        original: The text that the run started with, if there is one.
    """

    def __init__(self, judge: Judge, original: Thought | None) -> None:
        self._judge = judge
        self._original = original

    async def compare(self, first: Thought, second: Thought) -> Preference:
        """See `Judge`."""
        shown = (with_original(each, self._original) for each in (first, second))
        return await self._judge.compare(*shown)


class _Comparison(BaseModel):
    """Your comparison of the two versions."""

    reason: str = Field(default="", description="one or two sentences")
    better: Preference


class ModelJudge:
    """A judge that asks a model, in a context that knows nothing of who wrote what."""

    def __init__(self, model: Any) -> None:
        self.model = model

    async def compare(self, first: Thought, second: Thought) -> Preference:
        """One model call; see `Judge`."""
        from sifaka.models.structured import ask

        parts = [frame("task", first.prompt, lasting=True)] if first.prompt else []
        parts += original_of(first, second)
        parts += [frame("first", first.text), frame("second", second.text), _ASKED]
        comparison, _ = await ask(self.model, PROMPT.text, "\n\n".join(parts), _Comparison)
        return comparison.better


async def compare_in_both_orders(
    judge: Judge, candidate: Thought, champion: Thought, rule: VoteRule
) -> Votes:
    """Compare two versions as often as the rule asks for, each time in both orders.

    A repeat counts only when its two orders agree: a judge that likes what stands first
    (Wang et al. 2023, arXiv 2305.17926) has no vote. Two model calls for each repeat; those that
    the rule asks for together are made at once. Without room for them, and when none of them gets
    an answer, the comparison breaks off, and the votes say why.
    """
    votes = Votes()
    while count := rule.missing(votes):
        try:
            more = await _repeats(judge, candidate, champion, votes.repeats, count)
        except BudgetExceeded as error:
            reason = f"the budget of {error.limit} is spent"
            return votes.model_copy(update={"broke_off": reason})
        votes += more
        if more.unanswered == count and rule.missing(votes):
            return votes.model_copy(update={"broke_off": "the judge gave no answer"})
    return votes


async def _repeats(
    judge: Judge, candidate: Thought, champion: Thought, first: int, count: int
) -> Votes:
    """So many repeats at once, numbered from `first`.

    Raises:
        BudgetExceeded: There is no room for all of the calls; none was made.
    """

    async def ask(one: Thought, other: Thought) -> Preference | None:
        try:
            return await judge.compare(one, other)
        except (ModelProviderError, BudgetExceeded):
            return None  # the other answers are paid for

    orders = (
        ("candidate first", partial(ask, candidate, champion)),
        ("champion first", partial(ask, champion, candidate)),
    )
    answers = await fan_out(
        {f"{name} {first + n}": order for n in range(count) for name, order in orders}
    )
    pairs = list(zip(answers[::2], answers[1::2], strict=True))
    return Votes(
        candidate=pairs.count(("first", "second")),
        champion=pairs.count(("second", "first")),
        undecided=sum(pair not in {("first", "second"), ("second", "first")} for pair in pairs),
        unanswered=sum(None in pair for pair in pairs),
    )
