"""The comparison of claims with documents: a judge decides, and is asked a second time.

A model is asked about each document and all claims that found it; short documents share a
question. What can be compared exactly is a flag beside its judgement, which is for the second
question to settle. That question is blind to the first answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from anyio import to_thread
from pydantic import Field

from sifaka.calls.context import fan_out
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.evidence.claims.verdicts import JudgedSource
from sifaka.evidence.documents import SourceDocument, plain
from sifaka.evidence.model import Criterion, Verification
from sifaka.evidence.passages import (
    GAP,
    NAMED,
    QuotableText,
    nearest,
    overlap,
    passages_of,
    stems,
    without_heading,
)
from sifaka.evidence.search import rank_documents
from sifaka.evidence.verify import JUDGEMENTS, NO_MODEL, PARALLEL, Sheet, packed, verifications
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form, ask
from sifaka.record.claims import Claim, Judgement, Stance
from sifaka.text.numbers_and_names import Statement, is_same, normalised, read
from sifaka.text.prose import blanked, sentences

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_PASSAGES, _READ = 5, 700
"""Passages of a document that are read for a claim, and their characters."""
_SAME = 0.5
"""The share of a sentence's telling words that a claim has, for the two to be about one thing."""
_LONGEST = 1_000
"""Characters of a sentence."""
_COMPARED = frozenset({"number", "date", "money"})
_ROW = re.compile(r"^[ \t]*(?:[|•*+-]|\d{1,3}[.)])(?=[ \t|])", re.MULTILINE)
_CITATION = re.compile(
    r"(?<=[\w.,;:!?)\]%\"'”’])\s?\[\^?[1-9]\d{0,2}(?:\s?[,;–-]\s?[1-9]\d{0,2})*\](?!\()"
)
# Signs count: `-5` is not `5`, and `5 %` is not `5 €`.
_TOKEN = re.compile(
    r"(?:(?<!\w)[-−])?\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|[^\w\s.,;:!'\"()\[\]…-]"
)


def judged_by_rule(claim: str, document: SourceDocument) -> JudgedSource | None:
    """The judgement on a claim where no understanding is needed for one; else None.

    Support: a whole sentence says it verbatim, or with its end put first. A contradiction: one
    sentence alone is about the same, in the claim's words and with no further small ones, and one
    number or date at the same place in it is another.
    """
    claim = uncited(claim)
    sentences = [each for each in sentences_near(claim, document) if len(each) <= _LONGEST]
    if sentence := next((each for each in sentences if _repeats(claim, each)), ""):
        return JudgedSource(document, "supports", (sentence,))
    about = [each for each in sentences if _is_about(claim, each, document.title)]
    if len(about) == 1 and _differs_in_a_figure(claim, about[0], document.title):
        return JudgedSource(document, "contradicts", (about[0],))
    return None


def disagreement(claim: str, quoted: str) -> str:
    """The number, date or amount of a claim that the words quoted for it do not have, in words.

    Empty where they have all of them, in whatever notation.
    """
    theirs = _find_figures(quoted)
    readings = frozenset[str]().union(*(other.readings for other in theirs))
    missing = (
        f"the words quoted do not say {each.text[:80]!r}"
        for each in _find_figures(uncited(claim))
        # `One` and `a` are seldom numbers.
        if each.value != "1"
        and not (each.readings & readings or any(is_same(each, other) for other in theirs))
    )
    return next(missing, "")


def sentence_near(claim: str, document: SourceDocument) -> str:
    """The sentence of a document that has most of a claim's words; empty where none has any."""
    wanted = stems(claim)
    own = wanted - stems(document.title)  # the subject's name stands everywhere, or nowhere
    shared = {
        each: (len(own & words), len(wanted & words))
        for each in sentences_near(claim, document)
        for words in (stems(each),)
    }
    best = max(shared, key=lambda each: shared[each], default="")
    return best if best and any(shared[best]) else ""


def sentences_near(claim: str, document: SourceDocument) -> Iterable[str]:
    """The sentences of the passages that have most of a claim's words."""
    for passage in nearest(claim, passages_of([document], longest=_READ), _PASSAGES):
        text = without_heading(passage.text)
        for sentence in sentences(text):
            yield from (text[slice(*span)] for span in rows(text, *sentence))


def rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, or the rows of a table and the items of a list, each by itself."""
    for row in _ROW.finditer(text, start, end):
        if row.start() > start:
            yield start, row.start()
            start = row.start()
    yield start, end


def uncited(claim: str) -> str:
    """The claim without numbers of references, which its sources do not have."""
    return _CITATION.sub("", claim)


def _find_figures(text: str) -> list[Statement]:
    return [each for each in read(text) if each.kind in _COMPARED]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(normalised(text).casefold())


def _repeats(claim: str, sentence: str) -> bool:
    """True when a sentence has the words of a claim, in their order or with the end put first.

    In any order would be too many: who beats whom, or `5 to 7`, is said by the order alone.
    """
    ours, theirs = _tokens(claim), _tokens(sentence)
    return sorted(ours) == sorted(theirs) and any(
        ours[at:] + ours[:at] == theirs for at in range(len(ours))
    )


def _is_about(claim: str, sentence: str, title: str) -> bool:
    """True when all that a claim says besides figures stands in the sentence, and little else."""
    ours, theirs = (stems(_drop_figures(text)) - stems(title) for text in (claim, sentence))
    return bool(ours) and ours <= theirs and len(ours) >= _SAME * len(theirs)


def _drop_figures(text: str) -> str:
    """The text without its numbers, dates and amounts."""
    return blanked(text, [(each.start, each.end) for each in _find_figures(text)])


def _differs_in_a_figure(claim: str, sentence: str, title: str) -> bool:
    """True when one figure of each has no counterpart, and nothing else sets the two apart.

    A sentence need not say the whole title of its document, if that is what the claim is about.
    """
    ours, theirs = _find_figures(claim), _find_figures(sentence)
    gone = [each for each in ours if not any(is_same(each, other) for other in theirs)]
    came = [each for each in theirs if not any(is_same(each, other) for other in ours)]
    if len(gone) != 1 or len(came) != 1 or gone[0].kind != came[0].kind or came[0].weak:
        return False
    named = _tokens(title)
    subject = set(named) if " ".join(named) in " ".join(_tokens(claim)) else set[str]()
    claimed, stated = set(_tokens(_drop_figures(claim))), set(_tokens(_drop_figures(sentence)))
    return (
        # A word such as `not` may stand in the claim alone, and a small one more, such as `no` or
        # `than`, may turn a sentence over: that is for a judge.
        claimed - stated <= subject
        and all(map(stems, stated - claimed))
        and _around(claim, gone[0]) == _around(sentence, came[0])
    )


def _around(text: str, figure: Statement) -> Sequence[str]:
    """The words before and after a figure; of a date the one before, as much may follow one."""
    before, after = _tokens(text[: figure.start])[-1:], _tokens(text[figure.end :])[:1]
    return before if figure.kind == "date" else [*before, "#", *after]


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


class _Answer(Form):
    """The answer about one claim."""

    id: str = Field(min_length=1, description="the claim's number")
    missing: str = Field(default="", description="what is missing, added or weaker; may be empty")
    says: bool = Field(description="true when the passage says what the claim says")


class _Answers(Form):
    """The answer about each claim."""

    answers: list[_Answer]


async def asked_again(passages: Sequence[str], model: "Model") -> list[_Answer]:
    """Ask about claims and the words that each is said to rest on, twenty in one call.

    Returns:
        The answer about each. One that was not given, or could not be paid for, is no: what nobody
        has confirmed stays in doubt.
    """
    questions = {
        f"second {at}": partial(_ask_again, passages[at : at + CLAIMS_EACH], model)
        for at in range(0, len(passages), CLAIMS_EACH)
    }
    return list(chain(*await fan_out(questions, calls_each=0, parallel=PARALLEL)))


async def _ask_again(doubtful: Sequence[str], model: "Model") -> list[_Answer]:
    question = "\n\n".join(
        (
            *(f"Claim {number}:\n\n{each}" for number, each in enumerate(doubtful, 1)),
            "Does each passage say what its claim says? What is missing, added or weaker?",
        )
    )
    try:
        answer, _ = await ask(model, PROMPT.text, question, _Answers)
    except (ModelProviderError, BudgetExceeded) as error:
        no = _Answer(id="none", says=False, missing=f"it was not confirmed: {error.message}")
        return [no] * len(doubtful)
    answers = {
        each.id.strip(): each.model_copy(update={"missing": " ".join(each.missing.split())[:200]})
        # Of two answers the one that says no counts.
        for each in sorted(answer.answers, key=lambda each: not each.says)
    }
    absent = _Answer(id="none", says=False, missing="it was not confirmed when asked once more")
    return [answers.get(str(number), absent) for number in range(1, len(doubtful) + 1)]


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


async def judge_claims(
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
    criteria = {
        n: Criterion(id=f"claim-{n + 1}", type="claim", description=claim.text)
        for n, claim in claims.items()
    }
    numbers = {criterion.id: n for n, criterion in criteria.items()}
    # Each is read for all claims, and its characters are compared once.
    texts = {each.key: QuotableText(plain(each.text)) for each in chain(*documents.values())}
    packs = packed(_make_sheets(criteria, documents))
    questions = verifications(packs, question=_QUESTION, model=model)
    answered = await fan_out(questions, calls_each=0, parallel=PARALLEL)
    results: dict[tuple[int, str], JudgedSource] = {}
    for sheet, answer in zip(chain(*packs), chain(*answered), strict=True):
        key = sheet.document.key
        for at, criterion in enumerate(sheet.criteria):
            n = numbers[criterion.id]
            results[n, key] = await to_thread.run_sync(
                _read_answer, claims[n], answer, at, texts[key]
            )
    doubtful = {
        key: _show_doubt(claims[key[0]], judged, texts[key[1]])
        for key, judged in results.items()
        if judged.stance == "supports" and (double or judged.flag)
    }
    again = await asked_again(list(doubtful.values()), model)
    for key, answer in zip(doubtful, again, strict=True):
        if not answer.says:
            reason = "; ".join(filter(None, (results[key].flag, answer.missing)))
            results[key] = results[key]._replace(
                stance="in_doubt", reason=reason or "asked once more, the judge does not confirm"
            )
    return {
        # Scores are those of the claim's own search.
        number: tuple(results[number, d.key]._replace(document=d) for d in sources)
        for number, sources in documents.items()
    }


def _show_doubt(claim: Claim, judged: JudgedSource, text: QuotableText) -> str:
    """A claim and the sentences that were quoted for it, with their neighbours."""
    passage = GAP.join(dict.fromkeys(with_neighbours(quote, text) for quote in judged.quotes))
    title = judged.document.title
    return "\n\n".join(
        (
            frame("claim", claim.text[:_CLAIM]),
            *((frame("title", title),) if title else ()),
            frame("passage", passage[:_PASSAGE]),
        )
    )


def unjudged(claim: Claim, documents: Sequence[SourceDocument]) -> tuple[JudgedSource, ...]:
    """The documents of a claim as they rank by its words, each with its nearest passage.

    Where no understanding is needed they are judged by rule.
    """
    return tuple(
        judged_by_rule(claim.text, each) or _cite_nearest(claim, each, NO_MODEL)
        for each in rank_documents(claim.text, documents)
    )


def by_caller(
    claim: Claim, documents: Sequence[SourceDocument], judgement: Judgement
) -> tuple[JudgedSource, ...]:
    """The caller's judgement on a claim, with its quote looked up in each document.

    What the figures of claim and quote leave in doubt the caller is asked once more, by the answer.
    """
    stance = _MEANING[judgement.verdict]
    if stance == "insufficient":
        return tuple(JudgedSource(document, stance) for document in documents)
    held: list[JudgedSource] = []
    for document in documents:
        text = QuotableText(plain(document.text))
        if text.find(judgement.quote) is None:
            continue
        judged = _widen_quotes(claim, JudgedSource(document, stance, (judgement.quote,)), text)
        if judged.flag and not judgement.confirmed:
            judged = judged._replace(stance="in_doubt", reason=f"{judged.flag}: {_READ_AGAIN}")
        held.append(judged)
    missing = "the quote given for it is in none of its sources"
    return tuple(held or [_cite_nearest(claim, document, missing) for document in documents])


def _make_sheets(
    criteria: Mapping[int, Criterion], documents: Mapping[int, Sequence[SourceDocument]]
) -> list[Sheet]:
    """Each document with the claims that found it; again for those a question has no room for."""
    by_document: dict[str, tuple[SourceDocument, list[Criterion]]] = {}
    for number, sources in documents.items():
        for document in sources:
            _, own = by_document.setdefault(document.key, (document, []))
            own.append(criteria[number])
    return [
        Sheet(document, own[at : at + JUDGEMENTS])
        for document, own in by_document.values()
        for at in range(0, len(own), JUDGEMENTS)
    ]


def _read_answer(claim: Claim, answer: Verification, at: int, text: QuotableText) -> JudgedSource:
    """The judgement on a claim, whose criterion was at this place in the question."""
    document = answer.document
    if answer.degraded is not None:
        return _cite_nearest(claim, document, answer.degraded)
    said = answer.assessments[at]
    stance = "contradicts" if said.contradicts else _STANCES[said.judgement]
    lost = "what was quoted for it is not in the document"
    reason = lost if "quote_not_found" in said.flags else ""
    return _widen_quotes(claim, JudgedSource(document, stance, said.quotes, reason), text)


def _widen_quotes(claim: Claim, judged: JudgedSource, text: QuotableText) -> JudgedSource:
    """A judgement with the whole sentences of its quotes, and what disagrees about support."""
    quotes = tuple(dict.fromkeys(sentences_of(quote, text) for quote in judged.quotes))
    words = "\n".join((*quotes, judged.document.title, judged.document.day))
    flag = disagreement(claim.text, words) if judged.stance == "supports" else ""
    return judged._replace(quotes=quotes, flag=flag)


def sentences_of(quote: str, document: QuotableText) -> str:
    """The whole sentences that a quote stands in, without headings before them.

    What does not stand in the text, but in the title or beside it, is its own sentence.
    """
    place = document.find(quote)
    if place is None:
        return quote
    spans = _find_spans(document.text, place)
    inside = [span for span in spans if span[0] < place[1] and span[1] > place[0]] or [place]
    return " ".join(without_heading(document.text[slice(*span)]) for span in inside)


def with_neighbours(sentences: str, document: QuotableText) -> str:
    """Sentences with the one before and the one after them, as they stand in the document."""
    place = document.find(sentences)
    if place is None:
        return sentences
    spans = _find_spans(document.text, place)
    start = max((first for first, last in spans if last <= place[0]), default=place[0])
    end = min((last for first, last in spans if first >= place[1]), default=place[1])
    return document.text[start:end].strip()


def _find_spans(text: str, place: tuple[int, int]) -> list[tuple[int, int]]:
    """The sentences around a place."""
    first, last = max(0, place[0] - _AROUND), min(len(text), place[1] + _AROUND)
    around = text[first:last]
    return [
        (first + start, first + end)
        for sentence in sentences(around)
        for start, end in rows(around, *sentence)
    ]


def _cite_nearest(claim: Claim, document: SourceDocument, reason: str) -> JudgedSource:
    """The document with its sentence that is nearest to a claim, between its neighbours.

    None of one that speaks about something else.
    """
    is_about = overlap(claim.text, f"{document.title} {document.text}") >= NAMED
    near = sentence_near(claim.text, document) if is_about else ""
    passage = with_neighbours(near, QuotableText(document.text))
    return JudgedSource(document, "unjudged", (passage,), reason)
