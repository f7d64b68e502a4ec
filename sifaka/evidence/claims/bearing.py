"""The bearing of quoted words on a claim, by what can be compared without understanding."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from fractions import Fraction
from typing import NamedTuple

from sifaka.evidence.claims.polarity import clauses_of, said_otherwise
from sifaka.evidence.passages import stems, without_heading
from sifaka.evidence.quotes import QuotableText
from sifaka.text.prose import sentence_spans
from sifaka.validators.facts.comparison import Difference, compare
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.reading import Reading, names_of, read

ELSEWHERE = "the words quoted speak about something else"
FLOOR = 0.34
"""The share of a claim's telling words that the words quoted for it have, at least."""
_AROUND = 1_500
"""Characters on each side of a quote in which its sentences begin and end."""
_NEARLY = 0.6
"""The likeness from which a claim repeats a sentence, so that another word in it is a change."""
_AS_NEAR, _MOST = 0.7, 0.7
"""The part of the nearness of the best sentence that another needs; that from which one will do."""
_FEWEST = 2
_LONGEST_NAME = 3
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
_BEFORE_NAMES = frozenset(
    re.findall(
        r"\w+",
        """by from of in at for to with her his their its von vom der dem den bei par de del por la
        el les des aus""",
    )
)
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


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
    spans = [span for span in sentence_spans(around) if span[0] < end and span[1] > start]
    spans = spans or [(start, end)]
    sentences = (without_heading(around[slice(*span)]) for span in spans)
    return Passage(tuple(sentences), f"{title}. {around[: spans[0][0]]}", title)


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
    ours = read(claim)
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
    for at, near in enumerate(single):
        if near < FLOOR and len(single) == 1:
            continue
        before = " ".join((passage.before, *passage.sentences[:at]))
        if near >= FLOOR and near >= _AS_NEAR * best:
            yield passage.sentences[at], before
        if at + 1 < len(single) and best < _MOST:
            both = " ".join(passage.sentences[at : at + 2])
            if _nearness(ours, passage.title, both) > max(FLOOR, near, single[at + 1], best):
                yield both, before


def speaks_about(claim: str, passages: Sequence[Passage]) -> bool:
    """True when the telling words of a claim stand in some of the passages."""
    ours = read(claim)
    return any(_nearness(ours, each.title, each.text) >= FLOOR for each in passages)


def repeats_in_most(claim: str, passages: Sequence[Passage]) -> bool:
    """True when a sentence that has most of a claim's words says nothing else than the claim."""
    ours = read(claim)
    return any(
        _nearness(ours, passage.title, sentence) >= _MOST
        and not _disagreement(ours, sentence, passage.before)
        for passage in passages
        for sentence in passage.sentences
    )


def _disagreement(ours: Reading, quoted: str, before: str) -> str:
    theirs = read(quoted)
    for difference in differences(ours, theirs):
        if not (difference.kind == "name" and _stands_in(difference.after, before)):
            return _told(difference)
    return (
        _counted_otherwise(ours, theirs)
        or said_otherwise(ours.text, quoted)
        or _of_another(ours, quoted)
        or _exchanged(valued(ours), valued(theirs), before)
    )


def _nearness(ours: Reading, title: str, text: str) -> float:
    """The share of what the claim says of the document's subject that stands in a text, 0 to 1."""
    wanted = stems(valued(ours))
    own = wanted - stems(title)
    # A claim that has little besides the subject is compared with all its words.
    wanted = own if len(own) >= _FEWEST else wanted
    return len(wanted & stems(valued(read(text)))) / max(1, len(wanted))


def valued(reading: Reading) -> str:
    """The text with numbers as digits: twelve and 12 are one word."""
    text, at, parts = reading.text, 0, list[str]()
    numbers = (f for f in reading.facts if f.kind == "number" and f.value is not None)
    for fact in sorted(numbers, key=lambda fact: fact.start):
        if fact.start >= at:
            parts += [text[at : fact.start], f" {fact.value} "]
            at = fact.end
    return "".join((*parts, text[at:]))


def differences(ours: Reading, theirs: Reading) -> Iterator[Difference]:
    """The facts of a claim that a sentence does not have, or has of something else."""
    for difference in compare(theirs.text, ours.text):
        if difference.what == "lost":
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


def _of_another(ours: Reading, quoted: str) -> str:
    """The reason where a sentence says it of another, and names the claim's in another clause."""
    clauses = clauses_of(quoted)
    named = [stems(fact.shown) for fact in names_of(ours)]
    if len(clauses) < 2 or not named:
        return ""
    said = stems(ours.text).difference(*named)
    best = max(clauses, key=lambda clause: len(said & stems(clause)))
    here = stems(best)
    if any(name & here for name in named) or not said & here:
        return ""
    if not any(name <= stems(clause) for name in named for clause in clauses):
        return ""
    others = [
        fact.shown for fact in names_of(read(best)) if not stems(fact.shown) & stems(ours.text)
    ]
    return f"the words quoted say it of {others[0]!r}" if others else ""


def _told(difference: Difference) -> str:
    match difference.what:
        case "changed":
            return f"the claim says {difference.after!r}, the words quoted {difference.before!r}"
        case "moved":
            return f"{difference.before!r} and {difference.after!r} are said of each other's things"
        case _:
            return f"the words quoted do not say {difference.after!r}"


def _stands_in(name: str, text: str) -> bool:
    return stems(name) <= stems(text)


def _exchanged(claim: str, quoted: str, before: str) -> str:
    """A word that stands in a claim in the place of another one, where all else is repeated.

    A sentence need not repeat the subject of its document, unless it names another.
    """
    ours, theirs = _WORD.findall(claim), _WORD.findall(quoted)
    a, b = [w.casefold() for w in ours], [w.casefold() for w in theirs]
    matcher = SequenceMatcher(None, b, a, autojunk=False)
    if sum(block.size for block in matcher.get_matching_blocks()) < _NEARLY * len(a):
        return ""
    known = stems(quoted)
    for kind, i, j, m, n in matcher.get_opcodes():
        if kind != "replace" or not i or not m or n - m > _LONGEST_NAME:
            continue
        old, new = " ".join(theirs[i:j]), " ".join(ours[m:n])
        if _stands_in(new, before) and not any(word[:1].isupper() for word in theirs[i:j]):
            continue
        names = a[m - 1] in _BEFORE_NAMES or new[:1].isupper()
        if names and stems(new) and stems(old) and not stems(new) & known:
            return f"the claim says {new!r} where the words quoted say {old!r}"
    return ""
