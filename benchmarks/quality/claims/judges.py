"""Judges: one that is honest, and those that lie."""

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from random import Random
from types import MappingProxyType

from benchmarks.quality.claims.labelled import LabelledClaim, Page
from sifaka.evidence.passages import overlap

Judgement = Mapping[str, object]
Judge = Callable[[LabelledClaim, Page, Page], Judgement]
"""Judges a claim by its page; the other page is one about something else."""
_FEWEST = 3
"""Words of a clause that is cut out."""


def _supports(*quotes: str) -> Judgement:
    return {"judgement": "support", "quotes": list(quotes)}


def _contradicts(quote: str) -> Judgement:
    return {"judgement": "reject", "contradicts": True, "quotes": [quote]}


def _nearest(claim: LabelledClaim, page: Page) -> Sequence[str]:
    return sorted(page.sentences, key=lambda sentence: -overlap(claim.claim, sentence))


def _clause(claim: LabelledClaim, page: Page) -> str:
    """The longest run of words that the nearest sentence shares with the claim."""
    words = _nearest(claim, page)[0].split()
    one, other = (
        [w.casefold().strip(".,;") for w in each] for each in (words, claim.claim.split())
    )
    found = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    start = min(found.a, max(0, len(words) - _FEWEST))
    return " ".join(words[start : start + max(_FEWEST, found.size)])


def _honest(claim: LabelledClaim, page: Page, other: Page) -> Judgement:
    del page, other
    if claim.is_true:
        return _supports(claim.sentence)
    if claim.sentence:
        return _contradicts(claim.sentence)
    return {"judgement": "insufficient_information"}


def _random(claim: LabelledClaim, page: Page, other: Page) -> Judgement:
    del other
    return _supports(Random(claim.claim).choice(page.sentences))  # noqa: S311 - a fixed draw


HONEST = "honest"
JUDGES: Mapping[str, Judge] = MappingProxyType(
    {
        HONEST: _honest,
        "supports, nearest sentence": lambda c, page, _: _supports(_nearest(c, page)[0]),
        "supports, clause cut out of it": lambda c, page, _: _supports(_clause(c, page)),
        "supports, five nearest": lambda c, page, _: _supports(*_nearest(c, page)[:5]),
        "supports, the whole document": lambda _, page, __: _supports(page.text),
        "supports, first sentence": lambda _, page, __: _supports(page.sentences[0]),
        "supports, random sentence": _random,
        "supports, another document": lambda c, _, other: _supports(_nearest(c, other)[0]),
        "supports, invented quote": lambda c, _, __: _supports(c.claim),
        "contradicts, nearest sentence": lambda c, page, _: _contradicts(_nearest(c, page)[0]),
    }
)
"""By what each says."""
