"""Judges: which of two versions is better, asked in both orders."""

from functools import partial
from types import MappingProxyType
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, Field

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import fan_out
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models.prompt import Prompt, frame, original_of
from sifaka.models.structured import ask
from sifaka.record.thought import Thought

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
    metadata = MappingProxyType({**thought.metadata, _READING: number})
    return thought.model_copy(update={"metadata": metadata})


class Comparison(Frozen):
    """The outcome of the two orders of a comparison."""

    preferred: Literal["candidate", "champion"] | None = None
    """None where the orders disagree, or see no difference."""
    broke_off: str | None = None
    """The reason why there is no outcome."""


async def compare_in_both_orders(
    judge: Judge, candidate: Thought, champion: Thought, known: Preference | None = None
) -> Comparison:
    """Compare two versions in both orders: a judge that likes a place has no vote.

    The candidate is preferred where both orders prefer it (Wang et al. 2023, arXiv 2305.17926), the
    champion where one does and the other does not contradict. Each order is one model call; both
    are made at once.

    Args:
        judge: Compares.
        candidate: The version that may take the other's place.
        champion: The version that stands.
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
