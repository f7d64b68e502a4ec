"""The comparison of claims with documents: a judge decides, and is asked a second time.

A model is asked about each document and all claims that found it; short documents share a
question. What can be compared exactly is a flag beside its judgement, which is for the second
question to settle.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from anyio import to_thread

from sifaka.calls.context import fan_out
from sifaka.evidence.claims.by_rule import disagreement, judged_by_rule, rows, sentence_near
from sifaka.evidence.claims.second_question import Doubtful, asked_again
from sifaka.evidence.claims.verdicts import JudgedSource
from sifaka.evidence.documents import SourceDocument, plain
from sifaka.evidence.model import Assessment, Criterion, Verification
from sifaka.evidence.passages import NAMED, overlap, without_heading
from sifaka.evidence.quotes import QuotableText
from sifaka.evidence.ranking import rank_documents
from sifaka.evidence.verify import JUDGEMENTS, NO_MODEL, PARALLEL, Sheet, packed, verifications
from sifaka.record.claims import Claim, Judgement
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


_MEANING: Mapping[str, tuple[Literal["support", "reject", "insufficient_information"], bool]] = {
    "supported": ("support", False),
    "contradicted": ("reject", True),
    "not_enough_info": ("insufficient_information", False),
}
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
    its quotes do not have, or with `double` about all support. What is not confirmed is `doubt`.
    """
    said: dict[tuple[int, str], JudgedSource] = {}
    texts: dict[str, QuotableText] = {}
    numbers = {_criterion(n, claim).id: n for n, claim in claims.items()}
    packs = packed(_sheets(claims, documents))
    questions = verifications(packs, question=_QUESTION, model=model)
    for pack, answers in zip(
        packs, await fan_out(questions, calls_each=0, parallel=PARALLEL), strict=True
    ):
        for (document, criteria), answer in zip(pack, answers, strict=True):
            for each in criteria:
                n = numbers[each.id]
                said[n, document.key] = await _of(n, claims[n], document, answer, texts)
    said |= await _confirmed(said, claims, texts, model, double=double)
    return {
        # Scores are those of the claim's own search.
        number: tuple(said[number, d.key]._replace(document=d) for d in found)
        for number, found in documents.items()
    }


async def _confirmed(
    said: Mapping[tuple[int, str], JudgedSource],
    claims: Mapping[int, Claim],
    texts: Mapping[str, QuotableText],
    model: "Model",
    *,
    double: bool,
) -> dict[tuple[int, str], JudgedSource]:
    """The support that was asked about once more: confirmed, or with the doubt."""
    places = [
        place for place, judged in said.items() if judged.supports and (double or judged.flag)
    ]
    asked = [_doubtful(claims[n], said[n, key], texts[key]) for n, key in places]
    found: dict[tuple[int, str], JudgedSource] = {}
    for place, answer in zip(places, await asked_again(asked, model), strict=True):
        judged = said[place]
        reasons = "; ".join(filter(None, (judged.flag, answer.missing)))
        doubt = "" if answer.says else reasons or "asked once more, the judge does not confirm"
        found[place] = judged._replace(doubt=doubt)
    return found


def _doubtful(claim: Claim, judged: JudgedSource, text: QuotableText) -> Doubtful:
    assert judged.assessment is not None, "only support is asked about"
    passages = [with_neighbours(quote, text) for quote in judged.assessment.quotes]
    shown = "\n[...]\n".join(dict.fromkeys(passages))
    return Doubtful(claim.text, judged.document.title, shown)


async def unjudged(claim: Claim, documents: Sequence[SourceDocument]) -> tuple[JudgedSource, ...]:
    """The documents of a claim as they rank by its words, each with its nearest passage.

    Where no understanding is needed they are judged by rule.
    """

    def by_rule() -> list[tuple[SourceDocument, Assessment | None]]:
        ranked = rank_documents(claim.text, documents)
        return [(document, judged_by_rule(claim.text, document)) for document in ranked]

    return tuple(
        [
            JudgedSource(document, assessment)
            if assessment is not None
            else JudgedSource(document, None, await _passage(claim, document), NO_MODEL)
            for document, assessment in await to_thread.run_sync(by_rule)
        ]
    )


async def by_caller(
    claim: Claim, documents: Sequence[SourceDocument], said: Judgement
) -> tuple[JudgedSource, ...]:
    """The caller's judgement on a claim, with its quote looked up in each document.

    What the figures of claim and quote leave in doubt the caller is asked once more, by the answer.
    """
    judgement, contradicts = _MEANING[said.verdict]

    def one(document: SourceDocument) -> JudgedSource | None:
        text = QuotableText(plain(document.text))
        if judgement == "insufficient_information":
            assessment = Assessment(criterion="claim", judgement=judgement)
            return JudgedSource(document, assessment)
        if not said.quote.strip() or text.find(said.quote) is None:
            return None
        assessment = Assessment(
            criterion="claim", judgement=judgement, quotes=(said.quote,), contradicts=contradicts
        )
        judged = _quoted(claim, document, assessment, text)
        doubt = f"{judged.flag}: {_READ_AGAIN}" if judged.flag and not said.confirmed else ""
        return judged._replace(doubt=doubt)

    found = [each for document in documents if (each := await to_thread.run_sync(one, document))]
    if found:
        return tuple(found)
    missing = "the quote given for it is in none of its sources"
    return tuple([JudgedSource(d, None, await _passage(claim, d), missing) for d in documents])


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


async def _of(
    number: int,
    claim: Claim,
    document: SourceDocument,
    said: Verification,
    texts: dict[str, QuotableText],
) -> JudgedSource:
    wanted = _criterion(number, claim).id
    assessment = next((each for each in said.assessments if each.criterion == wanted), None)
    if assessment is not None:
        # Each is read for the claims before as well, and its characters are compared once.
        text = texts.setdefault(document.key, QuotableText(plain(document.text)))
        return await to_thread.run_sync(_quoted, claim, document, assessment, text)
    failure = said.degraded or "the document was not judged"
    return JudgedSource(document, None, await _passage(claim, document), failure)


def _quoted(
    claim: Claim, document: SourceDocument, assessment: Assessment, text: QuotableText
) -> JudgedSource:
    """A judgement with the whole sentences of its quotes, and what disagrees about support."""
    quotes = tuple(dict.fromkeys(sentences_of(quote, text) for quote in assessment.quotes))
    flag = ""
    if assessment.judgement == "support":
        published = document.published.date().isoformat() if document.published else ""
        flag = disagreement(claim.text, "\n".join((*quotes, document.title, published)))
    return JudgedSource(document, assessment.model_copy(update={"quotes": quotes}), flag=flag)


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


async def _passage(claim: Claim, document: SourceDocument) -> str:
    """The sentence of a document that is nearest to a claim, between its neighbours.

    None of one that speaks about something else.
    """

    def found() -> str:
        if overlap(claim.text, f"{document.title} {document.text}") < NAMED:
            return ""
        near = sentence_near(claim.text, document)
        return with_neighbours(near, QuotableText(document.text)) if near else ""

    return await to_thread.run_sync(found)
