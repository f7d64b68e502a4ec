"""Documents checked against criteria by a model, whose quotes are looked up."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from anyio import to_thread
from pydantic import Field

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError, StorageError
from sifaka.evidence.documents import SourceDocument, plain, plain_line
from sifaka.evidence.model import (
    WORST_FIRST,
    Assessment,
    Criterion,
    Flag,
    Judgement,
    Verification,
)
from sifaka.evidence.passages import GAP, QuotableText, excerpt
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form, ask

if TYPE_CHECKING:
    from pydantic_ai.models import Model

logger = logging.getLogger(__name__)

NO_MODEL = "there is no model"
PARALLEL = 10
"""Documents that are verified at the same time, where nothing else is said."""
SHOWN = 8_000
"""Characters of documents that one question shows; of a longer document those nearest to its
criteria."""
JUDGEMENTS = 30
"""Judgements that one question asks for."""
_TITLE = 300
_MOST_QUOTES = 5
"""Looked up for one criterion."""
_SECONDS = 2.0
"""Seconds for the quotes of one document. It takes a hostile answer to need as many."""
PROMPT = Prompt(
    purpose="Judges documents against criteria, with quotes that are looked up afterwards.",
    task="You judge each document against its criteria. Give one judgement for each of them, under "
    "the document's number and the criterion's id.",
    rules=(
        "Judge by that document alone, and not by what you know or another one says.",
        "`support`: the document says or shows everything that the criterion asks for.",
        "`somewhat_support`: it does so in part, or only by implication.",
        "`reject`: it speaks about something else, or it says the contrary. Set `contradicts` to "
        "true only when it says the contrary.",
        "`insufficient_information`: what is shown of it does not allow a judgement.",
        "Quote the words that show support, or that say the contrary. Copy each quote exactly and "
        "in one piece: at least some words, at most two sentences.",
        f"`{GAP.strip()}` marks where passages were left out. No quote goes across it.",
        "For a criterion about time you may quote the line `Published`.",
    ),
)


class Sheet(NamedTuple):
    """A document and what it is to be judged by."""

    document: SourceDocument
    criteria: Sequence[Criterion]

    @property
    def share(self) -> float:
        """The share of one question that it takes; 1 is all of it."""
        return max(min(1.0, len(self.document.text) / SHOWN), len(self.criteria) / JUDGEMENTS)


class _Judged(Form):
    """The judgement of one document on one criterion."""

    document: int = Field(default=1, description="the document's number")
    criterion: str = Field(min_length=1, description="the criterion's id")
    quotes: list[str] = Field(
        default_factory=list[str], description="words of the document, copied exactly"
    )
    judgement: Judgement
    contradicts: bool = Field(
        default=False, description="with `reject`: true when the document says the contrary"
    )


class _Judgements(Form):
    """The judgement of each document on each of its criteria."""

    judgements: list[_Judged]


def packed(sheets: Iterable[Sheet]) -> list[list[Sheet]]:
    """The sheets in their order, as many together as one question has room for."""
    packs: list[list[Sheet]] = []
    room = 0.0
    for sheet in sheets:
        if sheet.share > room:
            packs.append([])
            room = 1.0
        packs[-1].append(sheet)
        room -= sheet.share
    return packs


def verifications(
    packs: Iterable[Sequence[Sheet]],
    *,
    question: str,
    model: "Model | None",
    without: str = NO_MODEL,
) -> Mapping[str, Callable[[], Awaitable[list[Verification]]]]:
    """The judging of each pack of documents, for `fan_out`.

    One model call a pack, at the place `documents N` of the journal, with a verification for each
    document; a second round in one run needs a scope of its own. Documents for which the model
    cannot be asked, or the budget has no room, are `degraded` and have no judgements; `without` is
    the reason where there is no model. The criteria of a pack have different ids, or are the same.
    Each raises `StorageError` when its answer could not be put on record, and `Suspended` for the
    host.
    """
    return {
        f"documents {number}": partial(_verify_pack, pack, question, model, without)
        for number, pack in enumerate(packs)
    }


async def _verify_pack(
    pack: Sequence[Sheet], question: str, model: "Model | None", without: str
) -> list[Verification]:
    if model is None or not any(sheet.criteria for sheet in pack):
        reason = without if model is None else "there is no criterion to hold it against"
    else:
        try:
            return await _ask_model(pack, question, model)
        except StorageError:
            raise
        # A model may be foreign code, and the failure of one question costs the others nothing.
        except Exception as error:  # noqa: BLE001 - reported just below
            report_failure(logger, "evidence:verifier", error)
            reason = error.message if isinstance(error, SifakaError) else type(error).__name__
    return [Verification(document=sheet.document, degraded=reason) for sheet in pack]


async def _ask_model(pack: Sequence[Sheet], question: str, model: "Model") -> list[Verification]:
    texts = [await to_thread.run_sync(plain, document.text) for document, _ in pack]
    criteria = {each.id: _format_line(each) for sheet in pack for each in sheet.criteria}
    parts = [frame("question", question), frame("criteria", "\n".join(criteria.values()))]
    for number, (sheet, text) in enumerate(zip(pack, texts, strict=True), 1):
        if len(pack) > 1:
            parts.append(f"Document {number}, by {', '.join(each.id for each in sheet.criteria)}:")
        queries = [f"{each.name} {each.description}" for each in sheet.criteria]
        passage = await to_thread.run_sync(excerpt, text, queries, SHOWN)
        parts.append(frame("document", f"{_format_head(sheet.document)}\n\n{passage}"))
    parts.append("Judge each document against its criteria.")
    answer, usage = await ask(model, PROMPT.text, "\n\n".join(parts), _Judgements)
    verified: list[Verification] = []
    for number, ((document, own), text) in enumerate(zip(pack, texts, strict=True), 1):
        answers = [e for e in answer.judgements if e.document == number or len(pack) == 1]
        places = (text, document.title, _format_date(document))
        assessments = await to_thread.run_sync(_assess_all, answers, own, places)
        verified.append(Verification(document=document, assessments=assessments))
    # What the question has cost is reported once.
    return [verified[0].model_copy(update={"usage": usage}), *verified[1:]]


def _assess_all(
    judged: Sequence[_Judged], criteria: Sequence[Criterion], texts: Sequence[str]
) -> tuple[Assessment, ...]:
    """One assessment for each criterion, in their order.

    Support, and a contradiction, depend on their quotes: where none of them is found the judgement
    is `insufficient_information`. A quote that is not found is left out and flagged in any case. A
    criterion that was judged twice has the worst of its judgements, one that was skipped is
    `insufficient_information`; both are flagged. What was said about others is ignored.

    It reads the texts once for each quote: run it in a thread. Quotes that are left when its time
    is over count as not found.

    Args:
        judged: The verifier's answers.
        criteria: What it was asked about.
        texts: Where quotes may stand: the document's text, and what else was shown of it.
    """
    by_id: dict[str, list[_Judged]] = {}
    for each in judged:
        by_id.setdefault(_fold_id(each.criterion), []).append(each)
    look_up = _make_look_up(texts)
    return tuple(_combine(each.id, by_id.get(_fold_id(each.id), []), look_up) for each in criteria)


_LookUp = Callable[[str], str | None]
"""The words of a quote as they stand in the document; None when they do not."""


def _make_look_up(texts: Sequence[str]) -> _LookUp:
    """The search for quotes in the texts, each looked up once."""
    quotable = [QuotableText(text) for text in texts]
    end = monotonic() + _SECONDS

    @cache
    def look_up(quote: str) -> str | None:
        for text in quotable:
            span = text.find(quote) if monotonic() < end else None
            if span is not None:
                return text.text[slice(*span)]
        return None

    return look_up


def _fold_id(identifier: str) -> str:
    """An id apart from capitals and spaces around it, in which no two of a plan are the same."""
    return identifier.strip().casefold()


def _combine(criterion: str, answers: Sequence[_Judged], look_up: _LookUp) -> Assessment:
    if not answers:
        return Assessment(
            criterion=criterion, judgement="insufficient_information", flags=("missing",)
        )
    checked = [_check_quotes(criterion, each, look_up) for each in answers]
    worst = min(checked, key=lambda each: (WORST_FIRST.index(each.judgement), not each.contradicts))
    twice: tuple[Flag, ...] = ("duplicate",) if len(checked) > 1 else ()
    return worst.model_copy(update={"flags": (*worst.flags, *twice)})


def _check_quotes(criterion: str, answer: _Judged, look_up: _LookUp) -> Assessment:
    quotes = [quote for quote in answer.quotes if quote.strip()][:_MOST_QUOTES]
    matches = [words for quote in quotes if (words := look_up(quote)) is not None]
    contradicts = answer.contradicts and answer.judgement == "reject"
    is_bare = not matches and (contradicts or answer.judgement in {"support", "somewhat_support"})
    return Assessment(
        criterion=criterion,
        judgement="insufficient_information" if is_bare else answer.judgement,
        quotes=tuple(dict.fromkeys(matches)),
        contradicts=contradicts and not is_bare,
        flags=("quote_not_found",) if is_bare or len(matches) < len(quotes) else (),
    )


def _format_line(criterion: Criterion) -> str:
    text = " ".join(f"{criterion.name}: {criterion.description}".strip(": ").split())
    return f"- {criterion.id} ({criterion.type.strip()}): {text}"


def _format_head(document: SourceDocument) -> str:
    # The day it was found is today's for the model, and the same when the run is resumed. What goes
    # on to another line could pretend to be the date.
    lines = (
        f"Title: {plain_line(document.title, _TITLE)}" if document.title else "",
        f"From: {plain_line(document.url, _TITLE)}" if document.url else "",
        _format_date(document),
        f"Retrieved: {document.retrieved_at.date().isoformat()}",
    )
    return "\n".join(filter(None, lines))


def _format_date(document: SourceDocument) -> str:
    return f"Published: {document.day}" if document.day else ""
