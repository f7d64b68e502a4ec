"""From the answers of a verifier to judgements, and from judgements to a class and a score."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeVar

from sifaka.evidence.model import (
    WORST_FIRST,
    Assessment,
    Classification,
    Criterion,
    Evidence,
    Flag,
    Judgement,
    Verification,
)
from sifaka.evidence.quotes import QuotableText

_MOST_QUOTES = 5
"""Looked up for one criterion."""
_SECONDS = 2.0
"""Seconds for the quotes of one document. It takes a hostile answer to need as many."""


class Answered(NamedTuple):
    """The verifier's answer about one criterion."""

    criterion: str
    judgement: Judgement
    quotes: tuple[str, ...] = ()
    contradicts: bool = False


def assess(
    answered: Sequence[Answered], criteria: Sequence[Criterion], texts: Sequence[str]
) -> tuple[Assessment, ...]:
    """One assessment for each criterion, in their order.

    Support, and a contradiction, stand on their quotes: where none of them is found the judgement
    is `insufficient_information`. A quote that is not found is left out and flagged in any case. A
    criterion that was judged twice has the worst of its judgements, one that was skipped is
    `insufficient_information`; both are flagged. What was said about others is ignored.

    It reads the texts once for each quote: run it in a thread. Quotes that are left when its time
    is over count as not found.

    Args:
        answered: The verifier's answers.
        criteria: What it was asked about.
        texts: Where quotes may stand: the document's text, and what else was shown of it.
    """
    by_id: dict[str, list[Answered]] = {}
    for each in answered:
        by_id.setdefault(_known(each.criterion, criteria), []).append(each)
    look_up = _search_of(texts)
    return tuple(_together(each.id, by_id.get(each.id, []), look_up) for each in criteria)


def _search_of(texts: Sequence[str]) -> "_LookUp":
    """The search for quotes in the texts, each looked up once."""
    quotable = [QuotableText(text) for text in texts]
    known: dict[str, str | None] = {}
    end = monotonic() + _SECONDS

    def found(quote: str) -> str | None:
        for text in quotable:
            span = text.find(quote) if monotonic() < end else None
            if span is not None:
                return text.text[slice(*span)]
        return None

    def look_up(quote: str) -> str | None:
        if quote not in known:
            known[quote] = found(quote)
        return known[quote]

    return look_up


_LookUp = Callable[[str], str | None]
"""The words of a quote as they stand in the document; None when they do not."""


def _known(given: str, criteria: Sequence[Criterion]) -> str:
    """The id that is meant: as given, or else apart from capitals and spaces around it."""
    ids = [each.id for each in criteria]
    if given in ids:
        return given
    return next((each for each in ids if _plain(each) == _plain(given)), given)


def _plain(identifier: str) -> str:
    return identifier.strip().casefold()


def _together(criterion: str, said: Sequence[Answered], look_up: _LookUp) -> Assessment:
    if not said:
        return Assessment(
            criterion=criterion, judgement="insufficient_information", flags=("missing",)
        )
    checked = [_checked(criterion, each, look_up) for each in said]
    worst = min(checked, key=lambda each: (WORST_FIRST.index(each.judgement), not each.contradicts))
    if len(checked) == 1:
        return worst
    return worst.model_copy(update={"flags": (*worst.flags, "duplicate")})


def _checked(criterion: str, said: Answered, look_up: _LookUp) -> Assessment:
    quotes = [quote for quote in said.quotes if quote.strip()][:_MOST_QUOTES]
    found = [words for quote in quotes if (words := look_up(quote)) is not None]
    contradicts = said.contradicts and said.judgement == "reject"
    needs_quote = contradicts or said.judgement in {"support", "somewhat_support"}
    flags: tuple[Flag, ...] = ()
    if len(found) < len(quotes) or (needs_quote and not found):
        flags = ("quote_not_found",)
    if needs_quote and not found:
        return Assessment(criterion=criterion, judgement="insufficient_information", flags=flags)
    return Assessment(
        criterion=criterion,
        judgement=said.judgement,
        quotes=tuple(dict.fromkeys(found)),
        contradicts=contradicts,
        flags=flags,
    )


_WORTH: Mapping[Judgement, float] = MappingProxyType(
    {"support": 1.0, "somewhat_support": 0.5, "reject": 0.0, "insufficient_information": 0.0}
)
_ORDER: Mapping[Classification, int] = MappingProxyType(
    {"perfect": 0, "partial": 1, "unverified": 2, "reject": 3}
)
"""An unverified document may be better than a rejected one."""


class Classified(Protocol):
    """Something with a class and a score."""

    @property
    def classification(self) -> Classification:
        """Its class."""
        ...

    @property
    def score(self) -> float:
        """Its score."""
        ...


C = TypeVar("C", bound=Classified)


def classify(verification: Verification, criteria: Sequence[Criterion]) -> Evidence:
    """The class and the score of a document.

    `perfect`: every criterion supports it. `partial`: at least one that is not about time supports
    or somewhat supports it. `reject`: otherwise, so also where nothing but the time fits.
    `unverified`: it could not be verified. The score is the sum of weight times 1 for support and
    .5 for somewhat, at most 1; of an unverified document it is 0.
    """
    document, degraded = verification.document, verification.degraded
    if degraded is not None:
        return Evidence(document=document, classification="unverified", degraded=degraded)
    judgements: dict[str, Judgement] = {
        each.criterion: each.judgement for each in verification.assessments
    }
    worth = {each.id: _WORTH[judgements.get(each.id, "reject")] for each in criteria}
    passing = [each for each in criteria if worth[each.id] > 0 and not each.is_about_time]
    classification: Classification = "partial" if passing else "reject"
    if passing and all(worth[each.id] == 1.0 for each in criteria):
        classification = "perfect"
    return Evidence(
        document=document,
        assessments=verification.assessments,
        classification=classification,
        score=min(1.0, sum(each.weight * worth[each.id] for each in criteria)),
    )


def ranked(evidence: Iterable[C]) -> tuple[C, ...]:
    """Perfect, partial, unverified, then rejected evidence, the higher score first.

    What is equal keeps its order.
    """
    return tuple(sorted(evidence, key=lambda each: (_ORDER[each.classification], -each.score)))
