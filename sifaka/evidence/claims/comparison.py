"""The comparison of claims with documents, by a model and by rules.

A model is asked one question for each document, about all claims that found it.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from anyio import to_thread

from sifaka.calls.context import fan_out
from sifaka.embeddings.protocol import Embedder
from sifaka.evidence.claims.bearing import (
    ELSEWHERE,
    Passage,
    differences,
    disagreement,
    passage_of,
    repeats_in_most,
    rows,
    speaks_about,
    uncited,
)
from sifaka.evidence.claims.meaning import FLOOR, MeaningFloor, means_something_else
from sifaka.evidence.claims.polarity import said_otherwise
from sifaka.evidence.claims.verdicts import JudgedSource
from sifaka.evidence.claims.wording import valued
from sifaka.evidence.documents import SourceDocument, plain
from sifaka.evidence.model import Assessment, Criterion, Verification
from sifaka.evidence.passages import NAMED, nearest, overlap, passages_of, stems, without_heading
from sifaka.evidence.quotes import QuotableText
from sifaka.evidence.ranking import rank_documents
from sifaka.evidence.verify import NO_MODEL, PARALLEL, verifications
from sifaka.record.claims import Claim
from sifaka.text.prose import sentence_spans
from sifaka.validators.facts.reading import read

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_PASSAGES, _READ = 5, 700
"""Passages of a document that are read for a claim, and their characters."""
_SAME = 0.5
"""The share of a sentence's telling words that a claim has, for the two to be about one thing."""
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 1_000
"""Characters of a sentence."""


def judged_by_rule(claim: str, document: SourceDocument) -> Assessment | None:
    """The judgement on a claim where no understanding is needed for one; else None.

    `support`: a sentence says it in the same telling words in the same order. A contradiction: one
    sentence alone is about the same, and one number or date in it differs.
    """
    claim = uncited(claim)
    sentences = list(sentences_near(claim, document))
    for sentence in sentences:
        if _repeats(claim, sentence) and not disagreement(claim, [_alone(sentence, document)]):
            return Assessment(criterion="claim", judgement="support", quotes=(sentence,))
    about = [each for each in sentences if _is_about(claim, each, document.title)]
    if len(about) != 1:
        return None
    found = list(differences(read(claim), read(about[0])))
    if len(found) != 1 or found[0].what != "changed" or found[0].kind not in {"number", "date"}:
        return None
    changed = next((f for f in read(claim).facts if f.start == found[0].start), None)
    others = [f for f in read(about[0]).facts if f.shown != found[0].before]
    if changed is not None and any(f.value == changed.value for f in others if f.value is not None):
        return None  # it has the number too, of something else or without its unit
    # With the number of the sentence the claim has to be borne out in all else.
    mended = claim.replace(found[0].after, found[0].before)
    if mended == claim or disagreement(mended, [_alone(about[0], document)]):
        return None
    return Assessment(criterion="claim", judgement="reject", contradicts=True, quotes=tuple(about))


def sentences_near(claim: str, document: SourceDocument) -> Iterable[str]:
    """The sentences of the passages that have most of a claim's words."""
    passages = nearest(claim, passages_of([document], longest=_READ), _PASSAGES)
    for passage in passages:
        text = without_heading(passage.text)
        for sentence in sentence_spans(text):
            yield from (text[slice(*span)] for span in rows(text, *sentence))


def _alone(sentence: str, document: SourceDocument) -> Passage:
    return Passage((sentence,), document.title, document.title)


def _repeats(claim: str, sentence: str) -> bool:
    """True when a sentence has the telling words of a claim in their order, and says no other."""
    if len(sentence) > _LONGEST or said_otherwise(claim, sentence):
        return False
    ours, theirs = _sequence(claim), _sequence(sentence)
    return bool(ours) and ours == theirs


def _sequence(text: str) -> Sequence[str]:
    """The telling words of a text in their order."""
    words = (stems(word) for word in _WORD.findall(valued(read(text))))
    return [stem for word in words for stem in sorted(word)]


def _is_about(claim: str, sentence: str, title: str) -> bool:
    """True when all that a claim says besides numbers stands in the sentence, and little else."""
    if len(sentence) > _LONGEST:
        return False
    ours, theirs = (_named(text) - stems(title) for text in (claim, sentence))
    return bool(ours) and ours <= theirs and len(ours) >= _SAME * len(theirs)


def _named(text: str) -> frozenset[str]:
    """The telling words of a text but those of its numbers and dates."""
    reading = read(text)
    for fact in sorted(reading.facts, key=lambda fact: -fact.start):
        text = f"{text[: fact.start]} {text[fact.end :]}"
    return frozenset(stem for stem in stems(text) if stem.isalpha())


CLAIMS_EACH = 8
"""Claims in one question about a document."""
_PASSAGE = 500
"""Characters of the passage that stands for a document without a judgement."""
_QUESTION = (
    "Is each claim true, according to the document? The claims are the criteria: `support` means "
    "that the document says so, `reject` with `contradicts` that it says something that cannot be "
    "true if the claim is, such as another number, name or date for the same thing."
)


class _Sheet(NamedTuple):
    """One question: a document and the numbers of the claims that it is about."""

    document: SourceDocument
    claims: tuple[int, ...]


async def held(
    claims: Mapping[int, Claim],
    documents: Mapping[int, Sequence[SourceDocument]],
    model: "Model",
    *,
    embedder: Embedder | None = None,
    floor: MeaningFloor = FLOOR,
) -> dict[int, tuple[JudgedSource, ...]]:
    """Compare each claim with its documents.

    A document is judged once for every `CLAIMS_EACH` claims that found it; all questions are asked
    at the same time.
    """
    said: dict[tuple[int, str], JudgedSource] = {}
    texts: dict[str, QuotableText] = {}
    questions: dict[str, Callable[[], Awaitable[Verification]]] = {}
    sheets: list[_Sheet] = []
    for number, together in enumerate(_rounds(documents)):
        asked = [(each.document, [_criterion(n, claims[n]) for n in each.claims])
                 for each in together]  # fmt: skip
        made = verifications(asked, question=_QUESTION, model=model)
        questions |= {f"verify {number}/{place}": question for place, question in made.items()}
        sheets += together
    answers = await fan_out(questions, calls_each=0, parallel=PARALLEL)
    for sheet, answer in zip(sheets, answers, strict=True):
        for n in sheet.claims:
            one = await _of(n, claims[n], sheet.document, answer, texts)
            said[n, sheet.document.key] = await _meant(claims[n], one, embedder, floor)
    return {
        # Scores are those of the claim's own search.
        number: tuple(said[number, d.key]._replace(document=d) for d in found)
        for number, found in documents.items()
    }


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


def _rounds(documents: Mapping[int, Sequence[SourceDocument]]) -> list[list[_Sheet]]:
    """The questions, in rounds in which each document comes up once."""
    by_document: dict[str, tuple[SourceDocument, list[int]]] = {}
    for number, found in documents.items():
        for document in found:
            by_document.setdefault(document.key, (document, []))[1].append(number)
    longest = max((len(numbers) for _, numbers in by_document.values()), default=0)
    return [
        [
            _Sheet(document, tuple(numbers[at : at + CLAIMS_EACH]))
            for document, numbers in by_document.values()
            if len(numbers) > at
        ]
        for at in range(0, longest, CLAIMS_EACH)
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
        return await to_thread.run_sync(_borne_out, claim, document, assessment, text)
    failure = said.degraded or "the document was not judged"
    return JudgedSource(document, None, await _passage(claim, document), failure)


def _borne_out(
    claim: Claim, document: SourceDocument, assessment: Assessment, text: QuotableText
) -> JudgedSource:
    """A judgement with the whole sentences of its quotes, or the reason that it is in doubt."""
    passages = [passage_of(quote, text, document.title) for quote in assessment.quotes]
    quotes = tuple(dict.fromkeys(passage.text for passage in passages))
    doubt = ""
    if assessment.judgement == "support":
        doubt = disagreement(claim.text, passages, [*sentences_near(claim.text, document)])
    elif assessment.contradicts:
        if not speaks_about(claim.text, passages):
            doubt = ELSEWHERE
        elif repeats_in_most(claim.text, passages):
            doubt = "the words quoted say the same as the claim"
    if doubt:
        return JudgedSource(document, None, quotes[0], doubt=doubt)
    return JudgedSource(document, assessment.model_copy(update={"quotes": quotes}))


async def _meant(
    claim: Claim, judged: JudgedSource, embedder: Embedder | None, floor: MeaningFloor
) -> JudgedSource:
    """The judgement, or the reason that its quotes mean something else than the claim."""
    said = judged.assessment
    if embedder is None or said is None or not (said.judgement == "support" or said.contradicts):
        return judged
    near = await to_thread.run_sync(lambda: [*sentences_near(claim.text, judged.document)])
    least = floor.contradicting if said.contradicts else floor.least
    if not await means_something_else(
        claim.text, said.quotes, near, embedder, least=least, as_near=floor.as_near
    ):
        return judged
    return JudgedSource(judged.document, None, said.quotes[0], doubt=ELSEWHERE)


async def _passage(claim: Claim, document: SourceDocument) -> str:
    """The words of a document that are nearest to a claim, exactly as they stand there.

    None of one that speaks about something else.
    """

    def found() -> str:
        passages = nearest(claim.text, passages_of([document], longest=_PASSAGE), 1)
        if not passages or overlap(claim.text, f"{document.title} {document.text}") < NAMED:
            return ""
        return without_heading(passages[0].text)

    return await to_thread.run_sync(found)
