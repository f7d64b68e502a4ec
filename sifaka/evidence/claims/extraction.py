"""The claims of fact that a text makes: listed by a model, or its sentences that can be checked.

Such sentences have numbers, names or dates, and are found without a model.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.errors import BudgetExceeded, ConfigurationError, ModelProviderError
from sifaka.isolation import run_limited
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form, Number, ask
from sifaka.record.claims import Claim
from sifaka.record.usage import Usage
from sifaka.text.anchoring import anchor
from sifaka.text.markdown import Markdown
from sifaka.text.prose import Span, blanked, sentences, urls

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
    parts = [frame("task", task, lasting=True)] if task else []
    parts += [frame("text", text), "List the claims of fact in the text above."]
    answer, usage = await ask(model, PROMPT.text, "\n\n".join(parts), _Claims)
    stated = [each for each in answer.claims if each.claim.strip()]
    claims = list(merged(_anchor_claim(each, text) for each in stated[:_MOST]))
    claims.sort(key=lambda claim: len(text) if claim.start is None else claim.start)
    return Extracted(claims=tuple(claims), degraded=_report_rest(len(stated)), usage=usage)


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
    claims = checkable(text)
    return Extracted(claims=merged(claims[:_MOST]), degraded=_report_rest(len(claims)))


def _report_rest(count: int) -> tuple[str, ...]:
    return (f"{count - _MOST} further claims of the text were left out",) if count > _MOST else ()


def claims_given(claims: Sequence[str], text: str = "") -> tuple[Claim, ...]:
    """Claims in given words, each once; offsets for those that stand in the text verbatim.

    Raises:
        ConfigurationError: One is empty or too long.
    """
    made: list[Claim] = []
    for number, claim in enumerate(claims):
        words = claim.strip()
        if not words:
            raise ConfigurationError(f"claims[{number}] is empty", "give a sentence that claims it")
        if len(words) > LONGEST:
            raise ConfigurationError(
                f"claims[{number}] is {len(words):,} characters long",
                f"give claims of {LONGEST:,} characters or fewer, or the text they are from",
            )
        start = text.find(words)
        fields = {} if start < 0 else {"quote": words, "start": start, "end": start + len(words)}
        made.append(Claim.model_validate({"text": words, **fields}))
    return merged(made)


def merged(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Claims in the same words once, where the first of them stands, with the highest need."""
    kept: dict[str, Claim] = {}
    for claim in claims:
        key = normal(claim.text)
        before = kept.setdefault(key, claim)
        if claim.need > before.need:
            kept[key] = before.model_copy(update={"need": claim.need})
    return tuple(kept.values())


def normal(claim: str) -> str:
    """The claim for comparison: case, white space and marks at its end do not count.

    In short words case does, as 5 MW are not 5 mW; not in the first, nor where all is in capitals.
    """
    text = unicodedata.normalize("NFC", claim)
    first, *others = (text.casefold() if text.isupper() else text).split() or [""]
    kept = (each if len(each) <= _SHORT else each.casefold() for each in others)
    return " ".join((first.casefold(), *kept)).rstrip(" .!…。！")


def _anchor_claim(answer: _Found, text: str) -> Claim:
    words = answer.claim.strip()[:LONGEST]
    span = anchor(text, answer.quote)
    if span is None and words in text:
        span = text.index(words), text.index(words) + len(words)
    if span is None:
        return Claim(text=words, quote=answer.quote[:200], need=answer.need)
    start, end = span
    return Claim(text=words, quote=text[start:end], start=start, end=end, need=answer.need)


_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])(?:\s+\[[ xX]\])?\s+")
_TABLE = re.compile(r"\s*\|.*\|\s*$|[\s|:\-+=]+$")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_REFERENCES = re.compile(
    r"^[#*_ \t\d.]*(?:references|bibliography|works cited|citations|further reading"
    r"|(?:literatur|quellen)verzeichnis|références|bibliographie|referencias|bibliografía)"
    r"[*_:# \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""The line above a list of references. `Sources` and `Literature` may be what a text is about."""
_REFERENCE = re.compile(
    r"[ \t]*\[\^?[\w-]{1,20}\](?!\().*(?:https?://|www\.|\bdoi\b)", re.IGNORECASE
)
"""A reference that stands elsewhere: a number in brackets and an address."""
_MARKUP = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)|`")
_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_NUMBER_WORD = re.compile(
    r"\b(?:hundreds?|thousands?|millions?|billions?|dozens?|per ?cent|twice|half|quarter)\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"(?:please|let[’']?s|add|ask|avoid|call|check|choose|click|close|consider|copy|create|delete|do|"
    r"don[’']t|download|ensure|enter|fill|find|follow|give|go|imagine|insert|install|keep|look|make|"
    r"mix|move|never|note|open|press|put|read|remember|remove|replace|run|save|see|select|send|set|"
    r"show|start|stop|take|tell|try|turn|type|use|visit|wait|write)\b(?!\s+(?:of|was|were|is|are)\b)",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:I|we) (?:think|believe|feel|hope|love|like|prefer|guess|wish)\b"
    r"|\bin (?:my|our) opinion\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:it|its|he|his|she|her|they|their|this|that|these|those|both)\b", re.IGNORECASE
)
_SHORTEST_WORDS = 3
_SHORTEST_UNSPACED = 6
"""Characters of a sentence that is one word to the eye, as in Chinese."""
_LONGEST = 2_000
"""Characters of a sentence; what is longer is a list, or no prose at all."""
_CAPITALS = 0.25
"""The share of capitalised words from which capitals do not tell names, as in German or a title."""
_NUMBERS, _NAMES = 0.9, 0.6
"""The need of evidence, 0 to 1, for a number or a date, and for a name alone."""


def checkable(text: str) -> list[Claim]:
    """The sentences that state a number, a name or a date, in their order, without their markup.

    What a sentence starts from goes before one that begins with a pronoun. Code, headings, tables,
    quoted lines, front matter, references, questions and instructions are left out, and so is an
    opinion that states no number. It goes by marks of writing: names count where a script has
    capitals.
    """
    claims: list[Claim] = []
    prose = blanked(text, _find_non_prose(text))
    before, done = "", 0
    for first, end in sentences(prose):
        item = _ITEM.match(prose, first, end)
        start = item.end() if item else first
        if item or _BLANK_LINE.search(prose, done, first):
            before = ""
        plain = _drop_markup(text[start:end]) if end - start <= _LONGEST else ""
        need = _weigh_need(plain)
        if need:
            full = f"{before} {plain}" if before and _PRONOUN.match(plain) else plain
            quote = text[start:end]
            claims.append(Claim(text=full[:LONGEST], quote=quote, start=start, end=end, need=need))
        before, done = plain, end
    return claims


def _weigh_need(sentence: str) -> float:
    """The need of evidence for a sentence; 0 where there is nothing to look up."""
    words = _WORD.findall(sentence)
    unspaced = not sentence.isascii() and len(sentence) >= _SHORTEST_UNSPACED
    if len(words) < _SHORTEST_WORDS and not (unspaced and max(map(len, words), default=0) >= 4):
        return 0.0
    if sentence.rstrip("\"'”’)]").endswith(("?", "？", "؟", ";")) or _INSTRUCTION.match(sentence):
        return 0.0
    numerals = map(str.isnumeric, blanked(sentence, urls(sentence)))
    if any(numerals) or _NUMBER_WORD.search(sentence):
        return _NUMBERS
    return _NAMES if _has_name(words) and not _OPINION.search(sentence) else 0.0


def _has_name(words: list[str]) -> bool:
    """True when a word within the sentence is capitalised, where capitals tell names."""
    inner = [word for word in words[1:] if word not in {"I", "I’m", "I'm"}]
    capitalised = [word[:1].isupper() for word in inner]
    return any(capitalised) and (
        sum(capitalised) == 1
        or sum(capitalised) / len(capitalised) < _CAPITALS
        or any(a and b for a, b in pairwise(capitalised))
        or any(word.isupper() and len(word) > 1 for word in inner)
    )


def _drop_markup(sentence: str) -> str:
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", sentence)).split())


def _find_non_prose(text: str) -> list[Span]:
    """Front matter, code, headings, tables and what looks like one, quotes, references."""
    markdown = Markdown(text)
    headings = [*(start for start, _ in markdown.places("heading_open")), len(text)]
    return [
        (0, markdown.start),
        *markdown.places("fence", "heading_open", "table_open", "blockquote_open"),
        *(
            (at.start(), headings[min(bisect_right(headings, at.start()), len(headings) - 1)])
            for at in _REFERENCES.finditer(text)
        ),
        *(
            line.span()
            for line in _LINE.finditer(text)
            if _TABLE.match(line.group()) or _REFERENCE.match(line.group())
        ),
    ]
