"""The comparison of claims with documents: a judge decides, and is asked a second time.

A model is asked about each document and all claims that found it; short documents share a
question. What can be compared exactly is a flag beside its judgement, which is for the second
question to settle.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from anyio import to_thread

from sifaka.calls.context import fan_out
from sifaka.evidence.claims.by_rule import disagreement, judged_by_rule, rows, sentence_near
from sifaka.evidence.claims.second_question import Doubtful, asked_again
from sifaka.evidence.claims.verdicts import JudgedSource
from sifaka.evidence.documents import SourceDocument, plain
from sifaka.evidence.model import Assessment, Criterion
from sifaka.evidence.passages import NAMED, overlap, without_heading
from sifaka.evidence.quotes import QuotableText
from sifaka.evidence.ranking import rank_documents
from sifaka.evidence.verify import JUDGEMENTS, NO_MODEL, PARALLEL, Sheet, packed, verifications
from sifaka.record.claims import Claim, Judgement, Stance
from sifaka.text.prose import sentence_spans

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_AROUND = 1_500
"""Characters on each side of a quote in which its sentences and their neighbours are looked for."""
_QUESTION = (
    "Is each claim true, according to the document? The claims are the criteria: `support` means "
    "that the document says so, `reject` with `contradicts` that it says something that cannot be "
    "true if the claim is: another number, name or date for the same thing, some for all, a plan "
    "for a deed, a denial. What it speaks of and leaves open, such as a cause that is only likely, "
    "is `insufficient_information`; a claim without a condition that it names is "
    "`somewhat_support`."
)


_STANCES: Mapping[str, Stance] = {
    "support": "supports",
    "somewhat_support": "somewhat_supports",
    "reject": "off_topic",
    "insufficient_information": "insufficient",
}
"""By the judgement on a criterion; a rejection contradicts only where the document says so."""
_MEANING: Mapping[str, Stance] = {
    "supported": "supports",
    "contradicted": "contradicts",
    "not_enough_info": "insufficient",
}
"""By the verdict of a caller."""
_READ_AGAIN = (
    "does the passage say the claim? What is missing, added or weaker? If it does, send the "
    "judgement again with confirmed=true"
)


async def held(
    claims: Mapping[int, Claim],
    documents: Mapping[int, Sequence[SourceDocument]],
    model: "Model",
    *,
    double: bool = False,
) -> dict[int, tuple[JudgedSource, ...]]:
    """Compare each claim with its documents.

    Documents are judged together where they are short, a document again for every 30 claims; all
    questions are asked at the same time. Then it is asked once more about the support whose figures
    its quotes do not have, or with `double` about all support. What is not confirmed is
    in doubt.
    """
    said: dict[tuple[int, str], JudgedSource] = {}
    texts: dict[str, QuotableText] = {}
    numbers = {_criterion(n, claim).id: n for n, claim in claims.items()}
    packs = packed(_sheets(claims, documents))
    questions = verifications(packs, question=_QUESTION, model=model)
    answered = await fan_out(questions, calls_each=0, parallel=PARALLEL)
    for sheet, answer in zip(chain(*packs), chain(*answered), strict=True):
        # Each is read for all claims, and its characters are compared once.
        document, text = sheet.document, QuotableText(plain(sheet.document.text))
        texts.setdefault(document.key, text)
        assessments = {each.criterion: each for each in answer.assessments}
        for criterion in sheet.criteria:
            n = numbers[criterion.id]
            if criterion.id in assessments:
                judged = await to_thread.run_sync(
                    _judged, claims[n], document, assessments[criterion.id], texts[document.key]
                )
            else:
                reason = answer.degraded or "the document was not judged"
                judged = await _unjudged(claims[n], document, reason)
            said[n, document.key] = judged
    doubtful = {
        place: _doubtful(claims[place[0]], judged, texts[place[1]])
        for place, judged in said.items()
        if judged.stance == "supports" and (double or judged.flag)
    }
    again = await asked_again(list(doubtful.values()), model)
    for place, answer in zip(doubtful, again, strict=True):
        if not answer.says:
            reasons = "; ".join(filter(None, (said[place].flag, answer.missing)))
            reason = reasons or "asked once more, the judge does not confirm"
            said[place] = said[place]._replace(stance="in_doubt", reason=reason)
    return {
        # Scores are those of the claim's own search.
        number: tuple(said[number, d.key]._replace(document=d) for d in found)
        for number, found in documents.items()
    }


def _doubtful(claim: Claim, judged: JudgedSource, text: QuotableText) -> Doubtful:
    passages = [with_neighbours(quote, text) for quote in judged.quotes]
    shown = "\n[...]\n".join(dict.fromkeys(passages))
    return Doubtful(claim.text, judged.document.title, shown)


async def unjudged(claim: Claim, documents: Sequence[SourceDocument]) -> tuple[JudgedSource, ...]:
    """The documents of a claim as they rank by its words, each with its nearest passage.

    Where no understanding is needed they are judged by rule.
    """
    found: list[JudgedSource] = []
    for document in await to_thread.run_sync(rank_documents, claim.text, documents):
        said = await to_thread.run_sync(judged_by_rule, claim.text, document)
        if said is None:
            found.append(await _unjudged(claim, document, NO_MODEL))
        else:
            found.append(JudgedSource(document, stance_of(said), said.quotes))
    return tuple(found)


async def by_caller(
    claim: Claim, documents: Sequence[SourceDocument], said: Judgement
) -> tuple[JudgedSource, ...]:
    """The caller's judgement on a claim, with its quote looked up in each document.

    What the figures of claim and quote leave in doubt the caller is asked once more, by the answer.
    """
    stance = _MEANING[said.verdict]

    def one(document: SourceDocument) -> JudgedSource | None:
        if stance == "insufficient":
            return JudgedSource(document, stance)
        text = QuotableText(plain(document.text))
        if not said.quote.strip() or text.find(said.quote) is None:
            return None
        judged = _quoted(claim, JudgedSource(document, stance, (said.quote,)), text)
        if judged.flag and not said.confirmed:
            return judged._replace(stance="in_doubt", reason=f"{judged.flag}: {_READ_AGAIN}")
        return judged

    found = [each for document in documents if (each := await to_thread.run_sync(one, document))]
    if found:
        return tuple(found)
    missing = "the quote given for it is in none of its sources"
    return tuple([await _unjudged(claim, document, missing) for document in documents])


def _sheets(
    claims: Mapping[int, Claim], documents: Mapping[int, Sequence[SourceDocument]]
) -> list[Sheet]:
    """Each document with the claims that found it; again for those a question has no room for."""
    by_document: dict[str, tuple[SourceDocument, list[Criterion]]] = {}
    for number, found in documents.items():
        for document in found:
            _, criteria = by_document.setdefault(document.key, (document, []))
            criteria.append(_criterion(number, claims[number]))
    return [
        Sheet(document, criteria[at : at + JUDGEMENTS])
        for document, criteria in by_document.values()
        for at in range(0, len(criteria), JUDGEMENTS)
    ]


def _criterion(number: int, claim: Claim) -> Criterion:
    return Criterion(id=f"claim-{number + 1}", type="claim", description=claim.text)


def stance_of(assessment: Assessment) -> Stance:
    """The stance on a claim that a judgement on its criterion amounts to."""
    return "contradicts" if assessment.contradicts else _STANCES[assessment.judgement]


def _judged(
    claim: Claim, document: SourceDocument, said: Assessment, text: QuotableText
) -> JudgedSource:
    reason = ""
    if "quote_not_found" in said.flags:
        reason = "what was quoted for it is not in the document"
    return _quoted(claim, JudgedSource(document, stance_of(said), said.quotes, reason), text)


def _quoted(claim: Claim, judged: JudgedSource, text: QuotableText) -> JudgedSource:
    """A judgement with the whole sentences of its quotes, and what disagrees about support."""
    quotes = tuple(dict.fromkeys(sentences_of(quote, text) for quote in judged.quotes))
    flag, document = "", judged.document
    if judged.stance == "supports":
        published = document.published.date().isoformat() if document.published else ""
        flag = disagreement(claim.text, "\n".join((*quotes, document.title, published)))
    return judged._replace(quotes=quotes, flag=flag)


def sentences_of(quote: str, document: QuotableText) -> str:
    """The whole sentences that a quote stands in, without headings before them.

    What does not stand in the text, but in the title or beside it, is its own sentence.
    """
    place = document.find(quote)
    if place is None:
        return quote
    spans = _spans(document.text, place)
    inside = [span for span in spans if span[0] < place[1] and span[1] > place[0]] or [place]
    return " ".join(without_heading(document.text[slice(*span)]) for span in inside)


def with_neighbours(sentences: str, document: QuotableText) -> str:
    """Sentences with the one before and the one after them, as they stand in the document."""
    place = document.find(sentences)
    if place is None:
        return sentences
    spans = _spans(document.text, place)
    before = [span for span in spans if span[1] <= place[0]][-1:]
    after = [span for span in spans if span[0] >= place[1]][:1]
    near = [*before, place, *after]
    return document.text[near[0][0] : near[-1][1]].strip()


def _spans(text: str, place: tuple[int, int]) -> list[tuple[int, int]]:
    """The sentences around a place."""
    first, last = max(0, place[0] - _AROUND), min(len(text), place[1] + _AROUND)
    around = text[first:last]
    return [
        (first + start, first + end)
        for sentence in sentence_spans(around)
        for start, end in rows(around, *sentence)
    ]


async def _unjudged(claim: Claim, document: SourceDocument, reason: str) -> JudgedSource:
    """The document with its sentence that is nearest to a claim, between its neighbours.

    None of one that speaks about something else.
    """

    def nearest() -> str:
        if overlap(claim.text, f"{document.title} {document.text}") < NAMED:
            return ""
        near = sentence_near(claim.text, document)
        return with_neighbours(near, QuotableText(document.text)) if near else ""

    passage = await to_thread.run_sync(nearest)
    return JudgedSource(document, "unjudged", (passage,), reason)
