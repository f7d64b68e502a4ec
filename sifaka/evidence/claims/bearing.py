"""The bearing of quoted words on a claim, by what can be compared without understanding."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from sifaka.evidence.claims.bounds import bounded_otherwise
from sifaka.evidence.claims.contrasts import contrast
from sifaka.evidence.claims.polarity import said_otherwise
from sifaka.evidence.claims.wording import added, exchanged, said_of_another, stands_in, valued
from sifaka.evidence.passages import stems, without_heading
from sifaka.evidence.quotes import QuotableText
from sifaka.text.prose import sentence_spans
from sifaka.validators.facts.comparison import Difference, compare
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.reading import Reading, read

ELSEWHERE = "the words quoted speak about something else"
FLOOR = 0.34
"""The share of a claim's telling words that the words quoted for it have, at least."""
_AROUND = 1_500
"""Characters on each side of a quote in which its sentences begin and end."""
_AS_NEAR, _MOST = 0.7, 0.7
"""The part of the nearness of the best sentence that another needs; that from which one will do."""
_FEWEST = 2
_SHORT, _HALF = 3, 0.51
_HEDGE = 20
"""Characters before a number in which it is hedged."""
_HEDGES = tuple(
    (re.compile(rf"\b(?:{words})\s+\W*$", re.IGNORECASE), Fraction(least), Fraction(most))
    for words, least, most in (
        ("more than|over|at least|above|mehr als|über|plus de|más de", "1", "6/5"),
        ("less than|fewer than|under|below|at most|nearly|almost|fast|weniger als", "4/5", "1"),
        ("about|around|roughly|some|approximately|circa|rund|etwa|environ|unos", "19/20", "21/20"),
    )
)
"""The words that make a number a rough one, and the part of it from which and to which it is so."""
_ROW = re.compile(r"^[ \t]*(?:[|•*+-]|\d{1,3}[.)])(?=[ \t|])", re.MULTILINE)


_CITATION = re.compile(
    r"(?<=[\w.,;:!?)\]%\"'”’])\s?\[\^?[1-9]\d{0,2}(?:\s?[,;–-]\s?[1-9]\d{0,2})*\](?!\()"
)


class Passage(NamedTuple):
    """The whole sentences that quoted words stand in."""

    sentences: tuple[str, ...]
    before: str
    """The words before them and the title, which tell who is meant."""
    title: str

    @property
    def text(self) -> str:
        """The sentences."""
        return " ".join(self.sentences)


def passage_of(quote: str, document: QuotableText, title: str) -> Passage:
    """The sentences that a quote stands in, without headings before them.

    What stands in the title, or beside the document, is its own passage.
    """
    text, place = document.text, document.find(quote)
    if place is None:
        return Passage((f"{title}. {quote}",), "", "")
    first, last = max(0, place[0] - _AROUND), min(len(text), place[1] + _AROUND)
    around = text[first:last]
    start, end = place[0] - first, place[1] - first
    spans = [
        span
        for sentence in sentence_spans(around)
        for span in rows(around, *sentence)
        if span[0] < end and span[1] > start
    ]
    spans = spans or [(start, end)]
    sentences = (without_heading(around[slice(*span)]) for span in spans)
    return Passage(tuple(sentences), f"{title}. {around[: spans[0][0]]}", title)


def rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, or the rows of a table and the items of a list, each by itself."""
    for found in _ROW.finditer(text, start, end):
        if found.start() > start:
            yield start, found.start()
            start = found.start()
    yield start, end


def uncited(claim: str) -> str:
    """The claim without numbers of references, which its sources do not have."""
    return _CITATION.sub("", claim)


def disagreement(claim: str, passages: Sequence[Passage], others: Sequence[str] = ()) -> str:
    """The reason for which quoted words do not bear a claim out; empty where some of them do.

    Their numbers with units, dates, times, names and addresses have to be those of the claim, as
    have negation and the direction of comparisons, and the telling words of the claim have to
    stand in them. A name may also stand before them or in the title. All of it has to be said in
    one sentence, or in two that follow each other where none has most of it alone. A sentence that
    says much less of it than another one of the document is not the one that speaks about it.

    Args:
        claim: The claim.
        passages: What is quoted for it.
        others: Further sentences of the document.
    """
    ours = read(uncited(claim))
    best = max((_nearness(ours, each.title, text) for each in passages
                for text in (*each.sentences, *others)), default=0.0)  # fmt: skip
    reason, told = ELSEWHERE if passages else "nothing was quoted", 0.0
    for passage in passages:
        for words, before in _windows(passage, ours, best):
            if not (found := _disagreement(ours, words, before)):
                return ""
            if (near := _nearness(ours, passage.title, words)) > told:
                reason, told = found, near
    return reason


def _windows(passage: Passage, ours: Reading, best: float) -> Iterator[tuple[str, str]]:
    """The words that may bear a claim out, each with what stands before them."""
    single = [_nearness(ours, passage.title, text) for text in passage.sentences]
    # One word of two or three is any word.
    floor = _HALF if len(_wanted(ours, passage.title)) <= _SHORT else FLOOR
    for at, near in enumerate(single):
        before = " ".join((passage.before, *passage.sentences[:at]))
        if near >= floor and near >= _AS_NEAR * best:
            yield passage.sentences[at], before
        two = passage.sentences[at : at + 2]
        if len(two) == 1 or best >= _MOST or all(_ROW.match(each) for each in two):
            continue
        if _nearness(ours, passage.title, " ".join(two)) > max(floor, near, single[at + 1], best):
            yield " ".join(two), before


def speaks_about(claim: str, passages: Sequence[Passage]) -> bool:
    """True when the telling words of a claim stand in some of the passages."""
    ours = read(uncited(claim))
    return any(_nearness(ours, each.title, each.text) >= FLOOR for each in passages)


def repeats_in_most(claim: str, passages: Sequence[Passage]) -> bool:
    """True when a sentence that has most of a claim's words says nothing else than the claim."""
    ours = read(uncited(claim))
    return any(
        _nearness(ours, passage.title, sentence) >= _MOST
        and not _disagreement(ours, sentence, passage.before)
        for passage in passages
        for sentence in passage.sentences
    )


def _disagreement(ours: Reading, quoted: str, before: str) -> str:
    theirs = read(quoted)
    for difference in differences(ours, theirs):
        if not (difference.kind == "name" and stands_in(difference.after, before)):
            return _told(difference)
    return (
        _counted_otherwise(ours, theirs)
        or said_otherwise(ours.text, quoted)
        or bounded_otherwise(ours, theirs)
        or contrast(ours, theirs)
        or added(ours, quoted, before)
        or said_of_another(ours, quoted)
        or exchanged(valued(ours), valued(theirs), before)
    )


def _nearness(ours: Reading, title: str, text: str) -> float:
    """The share of what the claim says of the document's subject that stands in a text, 0 to 1."""
    wanted = _wanted(ours, title)
    return len(wanted & stems(valued(read(text)))) / max(1, len(wanted))


def _wanted(ours: Reading, title: str) -> frozenset[str]:
    wanted = stems(valued(ours))
    own = wanted - stems(title)
    # A claim that has little besides the subject is compared with all its words.
    return own if len(own) >= _FEWEST else wanted


def differences(ours: Reading, theirs: Reading) -> Iterator[Difference]:
    """The facts of a claim that a sentence does not have, or has of something else."""
    for difference in compare(theirs.text, ours.text):
        # A claim is shorter than what it is taken from.
        if difference.what == "lost" or difference.kind == "text":
            continue
        if difference.kind == "number" and _is_near_enough(difference, ours, theirs):
            continue
        yield difference


def _is_near_enough(difference: Difference, ours: Reading, theirs: Reading) -> bool:
    """True for `over 20,000` where a sentence has 20,099, and for `16 years` where it has 16."""
    fact = next((f for f in ours.facts if f.start == difference.start), None)
    if fact is None or fact.value is None:
        return False
    numbers = [f for f in theirs.facts if f.kind == "number" and f.value is not None]
    if difference.what == "new" and any(f.value == fact.value and not f.unit for f in numbers):
        return True
    words = ours.text[max(0, fact.start - _HEDGE) : fact.start]
    for hedge, least, most in _HEDGES:
        if hedge.search(words):
            return any(
                f.unit == fact.unit and least * ours_is <= theirs_is <= most * ours_is
                for f in numbers
                for ours_is in _sizes(fact)
                for theirs_is in _sizes(f)
            )
    return False


def _sizes(fact: Fact) -> list[Fraction]:
    """The readings of a number, in the unit that all of its dimension share."""
    return [size for key in fact.keys for size in key if isinstance(size, Fraction)]


def _counted_otherwise(ours: Reading, theirs: Reading) -> str:
    """The reason where a small number in words, such as three, is another one."""
    one, other = _values(ours), _values(theirs)
    more, fewer = Counter(one) - Counter(other), Counter(other) - Counter(one)
    weak = [f for f in ours.facts if f.weak and f.value in more and f.value != 1]
    instead = [f for f in theirs.facts if f.value in fewer and not f.coded]
    if not weak or not instead:
        return ""
    return f"the claim says {weak[0].shown!r}, the words quoted {instead[0].shown!r}"


def _values(reading: Reading) -> list[Fraction]:
    return [f.value for f in reading.facts if f.kind == "number" and f.value is not None]


def _told(difference: Difference) -> str:
    match difference.what:
        case "changed":
            return f"the claim says {difference.after!r}, the words quoted {difference.before!r}"
        case "moved":
            return f"{difference.before!r} and {difference.after!r} are said of each other's things"
        case _:
            return f"the words quoted do not say {difference.after!r}"
