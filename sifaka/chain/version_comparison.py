"""The comparison of two versions, by what is known of them and by judges in both orders.

Versions are compared criterion by criterion, and the first that tells them apart decides. Opinion
comes after fact: validators before critics. What is equal in everything stays as it was, so the
input, which is version 0, is only ever replaced by something better. Two kinds of version win a
tie: the editor's, whose edits are certain one by one, and one written for a task against the input,
or against any version where no critic judged, for there the writer's judgement is the only one.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, Field

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import fan_out
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models.prompt import Prompt, frame, original_of
from sifaka.models.structured import ask
from sifaka.record.entries import Decision, Measure
from sifaka.record.results import PREFERRED, CriticFeedback, majority
from sifaka.record.thought import EDITOR, Thought

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
_AGAIN = "This is reading {}: read both to their ends anew. Which version is better?"
_READING = "reading"
"""The key in a thought's metadata of the number of a further comparison, for its question."""


@runtime_checkable
class Judge(Protocol):
    """Compares two versions of a text."""

    async def compare(self, first: Thought, second: Thought) -> Preference:
        """Compares two versions.

        Raises:
            ModelProviderError: It could not say.
        """
        ...


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
        parts = [frame("task", first.prompt, lasting=True)] if first.prompt else []
        parts += original_of(first, second)
        parts += [frame("first", first.text), frame("second", second.text)]
        parts.append(
            _AGAIN.format(first.metadata[_READING]) if _READING in first.metadata else _ASKED
        )
        comparison, _ = await ask(self.model, PROMPT.text, "\n\n".join(parts), _Comparison)
        return comparison.better


def as_reading(number: int, thought: Thought) -> Thought:
    """A version for a further comparison, which asks in other words."""
    return thought.with_metadata({_READING: number})


class Comparison(Frozen):
    """The outcome of the two orders of a comparison."""

    preferred: Literal["candidate", "champion"] | None = None
    """None where the orders disagree, or see no difference."""
    broke_off: str | None = None
    """The reason why there is no outcome."""


async def compare_in_both_orders(
    judge: Judge, candidate: Thought, champion: Thought, known: Preference | None = None
) -> Comparison:
    """Compare two versions in both orders: a judge that prefers a position has no vote.

    The candidate is preferred where both orders prefer it (Wang et al. 2023, arXiv 2305.17926), the
    champion where one does and the other does not contradict. Each order is one model call; both
    are made at once.

    Args:
        judge: Compares.
        candidate: The version that may take the other's place.
        champion: The best version so far.
        known: The answer with the champion first, where somebody has given it already.
    """

    async def ask(first: Thought, second: Thought) -> Preference | None:
        try:
            return await judge.compare(first, second)
        except (ModelProviderError, BudgetExceeded):
            return None  # the other answer is paid for

    orders = {"candidate first": partial(ask, candidate, champion)}
    if known is None:
        orders["champion first"] = partial(ask, champion, candidate)
    try:
        answers = await fan_out(orders)
    except BudgetExceeded as error:
        return Comparison(broke_off=f"the budget of {error.limit} is spent")
    one, other = (*answers, known)[:2]
    if one is None or other is None:
        return Comparison(broke_off="the judge gave no answer")
    if (one, other) == ("first", "second"):
        return Comparison(preferred="candidate")
    if one != "first" and other != "second" and (one, other) != ("neither", "neither"):
        return Comparison(preferred="champion")
    return Comparison()


_EPSILON = 1e-9


_Measure = Callable[[Thought, Thought], float]
"""The measure of a version against a rival; smaller is better."""
Criteria = Mapping[str, _Measure]
"""Ways in which a version can be better than another, by what is measured."""


def _is_blank(thought: Thought, _: Thought) -> float:
    return float(not thought.text.strip())


def _count_failed(*, required: bool) -> _Measure:
    return lambda thought, _: sum(
        not r.passed and r.required is required for r in thought.validation_results.values()
    )


def _measure_shortfall(*, required: bool) -> _Measure:
    return lambda thought, _: sum(
        1 - r.score
        for r in thought.validation_results.values()
        if not r.passed and r.required is required
    )


def _answering_critics(thought: Thought) -> set[str]:
    return {f.critic for f in thought.critic_feedback if f.status == "ok"}


def _common_feedback(thought: Thought, rival: Thought) -> tuple[CriticFeedback, ...]:
    """The feedback on a version of the critics that answered on its rival too."""
    both = _answering_critics(thought) & _answering_critics(rival)
    return tuple(f for f in thought.critic_feedback if f.critic in both)


def _is_unanswered(thought: Thought, _: Thought) -> float:
    return float(bool(thought.critic_feedback) and not _answering_critics(thought))


def _is_opposed(thought: Thought, rival: Thought) -> float:
    return float(majority(_common_feedback(thought, rival)) == "revise")


def _is_not_preferred(thought: Thought, _: Thought) -> float:
    """1 where a critic that compared the version with the original finds it no better.

    A version for a task is taken where neither is better.
    """
    lost = {"original"} if thought.prompt else {"original", "neither"}
    return float(any(f.details.get(PREFERRED) in lost for f in thought.critic_feedback))


def _weigh_issues(thought: Thought, rival: Thought) -> float:
    return sum(
        issue.severity
        for feedback in _common_feedback(thought, rival)
        for issue in feedback.issues
        if issue.anchored
    )


def _is_input(thought: Thought, original: Thought) -> bool:
    """True for the text that was given, and for the editor's version of it."""
    edited = thought.author == EDITOR and thought.parent_id == original.id
    return original.author == "input" and (edited or thought.id == original.id)


def words_changed(original: Thought, thought: Thought) -> int:
    """The words of an original that a version changes; 0 where it has none."""
    from rapidfuzz.distance import Levenshtein

    words = original.text.split()
    return Levenshtein.distance(thought.text.split(), words) if words else 0


REQUIRED: Criteria = {
    "empty text": _is_blank,
    "required validators failed": _count_failed(required=True),
    "distance from passing them": _measure_shortfall(required=True),
}
"""Criteria that no opinion and no reason outweighs."""
RULES: Criteria = {
    **REQUIRED,
    "advisory validators failed": _count_failed(required=False),
    "distance from passing the advisory ones": _measure_shortfall(required=False),
}
"""Criteria that are measured."""
COUNTED: Criteria = {what: RULES[what] for what in RULES if not what.startswith("distance")}
"""Those for certain edits, which may make a text longer that is too long already."""
OPINIONS: Criteria = {
    "critics that gave no answer": _is_unanswered,
    # The others are those of critics that answered on both versions.
    "comparison with the original": _is_not_preferred,
    "revision asked for by the critics": _is_opposed,
    "severity of the issues found": _weigh_issues,
}
"""Criteria of the critics."""
CRITERIA: Criteria = {**RULES, **OPINIONS}
"""In the order in which they decide."""


def first_difference(criteria: Criteria, candidate: Thought, champion: Thought) -> Decision | None:
    """The decision of the first criterion that tells the two apart; None when none does."""
    for what, measure in criteria.items():
        new, old = measure(candidate, champion), measure(champion, candidate)
        if abs(new - old) > _EPSILON:
            return Decision(
                accepted=new < old,
                by="critics" if what in OPINIONS else "rules",
                over=champion.iteration,
                measure=Measure(criterion=what, new=new, old=old),
            )
    return None


def is_measured(decision: Decision) -> bool:
    """True when rules, the form of the answer or open differences decided, and no opinion."""
    criterion = decision.measure and decision.measure.criterion
    return criterion in RULES or decision.by in {"differences", "size", "unfit"}


def compare(
    candidate: Thought,
    champion: Thought,
    original: Thought,
    criteria: Criteria = CRITERIA,
) -> Decision:
    """Decide if the candidate takes the champion's place, and by what."""
    if decision := first_difference(criteria, candidate, champion):
        return decision
    if candidate.author == EDITOR and candidate.text != champion.text:
        return Decision(accepted=True, by="editor", over=champion.iteration)
    is_judged = any(feedback.judges_task for feedback in candidate.critic_feedback)
    if candidate.prompt and (_is_input(champion, original) or not is_judged):
        return Decision(accepted=True, by="task", over=champion.iteration)
    nearer: Criteria = {
        "words changed from the original": lambda each, _: words_changed(original, each)
    }
    note = f"no better than version {champion.iteration}"
    alike = Decision(accepted=False, by="rules", over=champion.iteration, note=note)
    return first_difference(nearer, candidate, champion) or alike
