"""The second question about claims that a judge has called supported: blind to its answer."""

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from sifaka.calls.context import fan_out
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.evidence.verify import PARALLEL
from sifaka.models.coercion import Form
from sifaka.models.prompt import Prompt, frame

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_CLAIM, _PASSAGE = 2_000, 2_500
"""Characters that are shown."""
CLAIMS_EACH = 20
"""Claims in one question."""
PROMPT = Prompt(
    purpose="Reads once more the sentences that a claim is said to rest on, without the first "
    "judgement.",
    task="For each claim, decide if the passage beside it says what the claim says.",
    rules=(
        "Judge by the passage and its title alone, and not by what you know or another one says.",
        "First write in `missing` what the claim adds, leaves out or makes stronger: all or some, "
        "a cause, a condition, a plan, the person, a negation, a number. Leave it empty where "
        "there is nothing.",
        "Then set `says` to true only if a reader of the passage must take the claim to be true. "
        "Other words for the same are no difference.",
        "Give one answer for each claim, under its number.",
    ),
)
_ASKED = "Does each passage say what its claim says? What is missing, added or weaker?"


class Doubtful(NamedTuple):
    """A claim and the words that it is said to rest on."""

    claim: str
    title: str
    """The document's."""
    passage: str
    """The sentences that were quoted, with their neighbours."""


class _Answer(Form):
    """The answer about one claim."""

    id: str = Field(min_length=1, description="the claim's number")
    missing: str = Field(default="", description="what is missing, added or weaker; may be empty")
    says: bool = Field(description="true when the passage says what the claim says")


class _Answers(Form):
    """The answer about each claim."""

    answers: list[_Answer]


async def asked_again(asked: Sequence[Doubtful], model: "Model") -> list[_Answer]:
    """Ask about the claims, twenty in one call.

    Returns:
        The answer about each. One that was not given, or could not be paid for, is no: what nobody
        has confirmed stays in doubt.
    """
    questions = {
        f"second {at}": partial(_asked, asked[at : at + CLAIMS_EACH], model)
        for at in range(0, len(asked), CLAIMS_EACH)
    }
    answers = await fan_out(questions, calls_each=0, parallel=PARALLEL)
    return list(chain.from_iterable(answers))


async def _asked(doubtful: Sequence[Doubtful], model: "Model") -> list[_Answer]:
    from sifaka.models.structured import ask

    parts: list[str] = []
    for number, (claim, title, passage) in enumerate(doubtful, 1):
        parts += (
            f"Claim {number}:",
            frame("claim", claim[:_CLAIM]),
            *((frame("title", title),) if title else ()),
            frame("passage", passage[:_PASSAGE]),
        )
    try:
        answer, _ = await ask(model, PROMPT.text, "\n\n".join((*parts, _ASKED)), _Answers)
    except (ModelProviderError, BudgetExceeded) as error:
        no = _Answer(id="none", says=False, missing=f"it was not confirmed: {error.message}")
        return [no] * len(doubtful)
    said: dict[str, _Answer] = {}
    for each in answer.answers:
        before = said.get(each.id.strip())
        # Of two answers the one that says no counts.
        if before is None or before.says:
            reason = " ".join(each.missing.split())[:200]
            said[each.id.strip()] = each.model_copy(update={"missing": reason})
    absent = _Answer(id="none", says=False, missing="it was not confirmed when asked once more")
    return [said.get(str(number), absent) for number in range(1, len(doubtful) + 1)]
