"""The claims of fact that a text makes."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.errors import BudgetExceeded, ConfigurationError, ModelProviderError
from sifaka.evidence.claims.sentences import checkable
from sifaka.isolation import run_limited
from sifaka.models.coercion import Form, Number
from sifaka.models.prompt import Prompt, frame
from sifaka.record.claims import Claim
from sifaka.record.usage import Usage
from sifaka.text.anchoring import anchor

if TYPE_CHECKING:
    from pydantic_ai.models import Model

NEEDS_EVIDENCE = 0.2
"""The probability of needing evidence from which evidence is looked for."""
LONGEST = 2_000
"""Characters of a claim."""
_SHORT = 4
"""Characters of a word that may be a unit or an abbreviation, a mark after it included."""
_MOST = 200
"""Claims of one text; further ones are left out."""

PROMPT = Prompt(
    purpose="Lists the claims of fact in a text, so that each can be checked.",
    task="You list the claims of fact that a text makes. Do not judge if they are true.",
    rules=(
        "Give one item for each claim, in the order of the text.",
        "`quote`: the words of the text that make the claim, copied exactly.",
        "`claim`: the claim as one sentence that can be understood without the text. Put names in "
        "the place of words such as `it`.",
        "`need`: the probability from 0 to 1 that a reader needs evidence for it. Opinions, "
        "requests and common knowledge need none.",
        "The list may be empty.",
    ),
    example="For example, in a text about the Eiffel Tower the quote `It opened in 1889` makes the "
    "claim `The Eiffel Tower opened in 1889.`",
)
_ASKED = "List the claims of fact in the text above."


class _Found(Form):
    """A claim that the text makes."""

    quote: str = Field(default="", description="the words of the text, copied exactly")
    claim: str = Field(min_length=1, description="what is claimed, as a sentence of its own")
    need: Number = Field(default=1.0, ge=0, le=1, description="probability that evidence is needed")


class _Claims(Form):
    """The claims of fact in the text."""

    claims: list[_Found]


class Extracted(Frozen):
    """The claims of a text."""

    claims: tuple[Claim, ...] = ()
    """In the order of the text, each once; those that need no evidence are among them."""
    degraded: tuple[str, ...] = ()
    """The reasons that no model has answered, and the claims left out."""
    usage: Usage = Field(default_factory=Usage)


async def claims_in(text: str, model: "Model", *, task: str = "") -> Extracted:
    """The claims of a text by one model call; see `ask`.

    What the model quotes is looked for in the text: a claim whose words are not there keeps them
    without offsets.

    Raises:
        ModelProviderError: The model failed.
        BudgetExceeded: There is no room for the call.
    """
    from sifaka.models.structured import ask

    parts = [frame("task", task, lasting=True)] if task else []
    question = "\n\n".join((*parts, frame("text", text), _ASKED))
    answer, usage = await ask(model, PROMPT.text, question, _Claims)
    given = [found for found in answer.claims if found.claim.strip()]
    claims = merged(_anchored(found, text) for found in given[:_MOST])
    ordered = sorted(claims, key=lambda claim: len(text) if claim.start is None else claim.start)
    return Extracted(claims=tuple(ordered), degraded=_left_out(len(given)), usage=usage)


async def extract(text: str, model: "Model | None") -> Extracted:
    """The claims of a text: by the model where it answers, by rules otherwise."""
    if model is None:
        return await run_limited(claims_by_rule, text, size=len(text))
    try:
        return await claims_in(text, model)
    except (ModelProviderError, BudgetExceeded) as error:
        by_rule = await run_limited(claims_by_rule, text, size=len(text))
        line = f"claims were taken from the text by rules: {error.message}"
        return by_rule.model_copy(update={"degraded": (line, *by_rule.degraded)})


def claims_by_rule(text: str) -> Extracted:
    """The sentences with numbers, names or dates as claims; see `checkable`."""
    found = checkable(text)
    claims = merged(
        Claim(
            text=each.text[:LONGEST],
            quote=text[slice(*each.span)],
            start=each.span[0],
            end=each.span[1],
            need=each.need,
        )
        for each in found[:_MOST]
    )
    return Extracted(claims=claims, degraded=_left_out(len(found)))


def _left_out(found: int) -> tuple[str, ...]:
    more = f"{found - _MOST} further claims of the text were left out"
    return (more,) if found > _MOST else ()


def claims_given(claims: Sequence[str], text: str = "") -> tuple[Claim, ...]:
    """Claims in given words, each once; offsets for those that stand in the text verbatim.

    Raises:
        ConfigurationError: One is empty or too long.
    """
    made: list[Claim] = []
    for number, given in enumerate(claims):
        told = given.strip()
        if not told:
            raise ConfigurationError(f"claims[{number}] is empty", "give a sentence that claims it")
        if len(told) > LONGEST:
            raise ConfigurationError(
                f"claims[{number}] is {len(told):,} characters long",
                f"give claims of {LONGEST:,} characters or fewer, or the text they are from",
            )
        start = text.find(told)
        place = {} if start < 0 else {"quote": told, "start": start, "end": start + len(told)}
        made.append(Claim.model_validate({"text": told, **place}))
    return merged(made)


def merged(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Claims in the same words once, where the first of them stands, with the highest need."""
    kept: dict[str, Claim] = {}
    for claim in claims:
        key = normal(claim.text)
        before = kept.get(key)
        if before is None:
            kept[key] = claim
        elif claim.need > before.need:
            kept[key] = before.model_copy(update={"need": claim.need})
    return tuple(kept.values())


def normal(claim: str) -> str:
    """The claim for comparison: case, white space and marks at its end do not count.

    In short words case does, as 5 MW are not 5 mW; not in the first, nor where all is in capitals.
    """
    told = unicodedata.normalize("NFC", claim)
    first, *others = (told.casefold() if told.isupper() else told).split() or [""]
    kept = (each if len(each) <= _SHORT else each.casefold() for each in others)
    words = (first.casefold(), *kept)
    return " ".join(words).rstrip(" .!…。！")


def _anchored(found: _Found, text: str) -> Claim:
    said = found.claim.strip()[:LONGEST]
    span = anchor(text, found.quote)
    if span is None and said in text:
        span = text.index(said), text.index(said) + len(said)
    if span is None:
        return Claim(text=said, quote=found.quote[:200], need=found.need)
    quote = text[slice(*span)]
    return Claim(text=said, quote=quote, start=span[0], end=span[1], need=found.need)
