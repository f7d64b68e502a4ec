"""Judgements on claims by rules, without any model."""

import re
from collections.abc import Iterable, Sequence

from sifaka.evidence.claims.bearing import Passage, differences, disagreement, valued
from sifaka.evidence.claims.polarity import said_otherwise
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import Assessment
from sifaka.evidence.overlap import stems
from sifaka.evidence.passages import nearest, passages_of, without_heading
from sifaka.text.prose import sentence_spans
from sifaka.validators.facts.reading import read

_PASSAGES, _PASSAGE = 5, 700
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
    sentences = list(sentences_near(claim, document))
    for sentence in sentences:
        if _repeats(claim, sentence) and not disagreement(claim, [_passage(sentence, document)]):
            return Assessment(criterion="claim", judgement="support", quotes=(sentence,))
    about = [each for each in sentences if _is_about(claim, each, document.title)]
    if len(about) != 1:
        return None
    found = list(differences(read(claim), read(about[0])))
    if len(found) != 1 or found[0].what != "changed" or found[0].kind not in {"number", "date"}:
        return None
    # With the number of the sentence the claim has to be borne out in all else.
    mended = claim.replace(found[0].after, found[0].before)
    if mended == claim or disagreement(mended, [_passage(about[0], document)]):
        return None
    return Assessment(criterion="claim", judgement="reject", contradicts=True, quotes=tuple(about))


def sentences_near(claim: str, document: SourceDocument) -> Iterable[str]:
    """The sentences of the passages that have most of a claim's words."""
    passages = nearest(claim, passages_of([document], longest=_PASSAGE), _PASSAGES)
    for passage in passages:
        text = without_heading(passage.text)
        yield from (text[slice(*span)] for span in sentence_spans(text))


def _passage(sentence: str, document: SourceDocument) -> Passage:
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
