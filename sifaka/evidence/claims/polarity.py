"""Negation and comparison in a claim and in the sentence that is quoted for it."""

import re
from collections.abc import Iterator, Sequence

from sifaka.evidence.passages import overlap, stems

_CLAUSE = re.compile(
    r"[;:—–]\s*+|,\s++(?=(?:and|but|while|whereas|although|though|which|who|not|they|it|except|also"
    r"|und|aber|während|sondern|mais|et|dont|pero|y|sino)\b)|,\s++(?=\w)"
    r"|(?<!\s)\s++(?=(?:but|while|whereas|although|aber|sondern|mais|pero|sino)\b)",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|except|excluding"
    r"|fail(?:s|ed|ing)?\s+to|lack(?:s|ed|ing)?|skip(?:s|ped|ping)?|hardly|barely|instead\s+of|rather\s+than"
    r"|unless|prohibited|forbidden|banned|illegal|impossible|unable|refus(?:es|ed)|den(?:y|ies|ied)"
    r"|nicht|nichts|nie|niemals|niemand|kein(?:e|en|er|em|es)?|ohne|weder|außer|verboten"
    r"|ne|pas|jamais|aucune?|sans|ni|sauf|personne|interdite?s?"
    r"|nunca|jamás|ningun[oa]?|ningún|sin|tampoco|salvo|nadie|prohibid[oa]s?)\b|n[’']t\b|\bn[’']"
    r"|[不没沒无無]|未(?![来來])|ない|なかった|ません|않|없|아니",
    re.IGNORECASE,
)
_UNASSERTED = re.compile(
    r"[?？]\W*$|\b(?:if|whether|wrongly|falsely|mistakenly|incorrectly|erroneously|supposedly|allegedly"
    r"|untrue|myths?|hoax(?:es)?|rumou?rs?|misconceptions?|wenn|falls|ob|angeblich|fälschlich(?:erweise)?"
    r"|prétendument|soi-disant|supuestamente)\b",
    re.IGNORECASE,
)
"""Marks of words that ask, suppose or doubt something, and do not say that it is so."""
_FEWEST_MORE = 2
"""Telling words that a further clause brings at least."""
_REPEATED = 0.8
"""The share of a clause's telling words from which a claim repeats it."""
_DOUBLE = re.compile(
    r"\bnot\s+even\b|\bnor\b|\bnoch\b|\bni\b(?=.{0,300}\bni\b)|\bauch\s+nicht\b"
    r"|\b(?:ne\s+|n[’'])(?=\w+(?:\s+\w+){0,2}?\s+(?:pas|plus|jamais|que)\b)",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("open", "closed"), ("opens", "closes"), ("opened", "closed"), ("allowed", "forbidden"),
    ("legal", "illegal"), ("possible", "impossible"), ("able", "unable"), ("won", "lost"),
    ("before", "after"), ("rose", "fell"), ("increased", "decreased"), ("first", "last"),
    ("largest", "smallest"), ("highest", "lowest"), ("inside", "outside"), ("above", "below"),
    ("higher", "lower"), ("more", "fewer"), ("more", "less"), ("greater", "smaller"),
    ("faster", "slower"), ("longer", "shorter"), ("older", "younger"), ("better", "worse"),
    ("stronger", "weaker"), ("earlier", "later"), ("cheaper", "dearer"), ("wieder", "mehr"),
)  # fmt: skip
_UP = re.findall(
    r"\w+",
    """more higher greater larger longer stronger faster older better later mehr höher größer plus
    más""",
)
_DOWN = re.findall(
    r"\w+",
    """less fewer lower smaller shorter weaker slower younger worse earlier rarer weniger moins
    menos""",
)
_DIRECTION = dict.fromkeys(_UP, 1) | dict.fromkeys(_DOWN, -1)
_THAN = re.compile(r"\b(?:than|als|que)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def said_otherwise(claim: str, sentence: str) -> str:
    """The reason for which a sentence says the contrary of a claim; empty where none shows."""
    near = " ".join(clauses_for(claim, sentence))
    if _negations(claim) != _negations(near):
        return "the words quoted are negated where the claim is not, or the other way round"
    if _UNASSERTED.search(near) and not _UNASSERTED.search(claim):
        return "the words quoted do not say that it is so"
    if _turned(claim, sentence):
        return "the words quoted compare the other way round"
    words, others = _words(claim), _words(near)
    for one, other in _OPPOSITES:
        for here, there in ((one, other), (other, one)):
            if here in words - others and there in others - words and not _compares(claim, near):
                return f"the claim says {here!r} and the words quoted say {there!r}"
    return ""


def clauses_of(sentence: str) -> list[str]:
    """The clauses of a sentence, by their marks and conjunctions."""
    return [each for each in _CLAUSE.split(sentence) if each and each.strip()]


def clauses_for(claim: str, sentence: str) -> Iterator[str]:
    """The clauses of a sentence that a claim is about, in their order.

    The one that shares most telling words with it, each further one that brings several more, and
    each that the claim repeats.
    """
    clauses = clauses_of(sentence)
    said = stems(claim)
    told = [stems(_NEGATION.sub(" ", clause)) for clause in clauses]
    best = max(range(len(clauses)), key=lambda n: len(told[n] & said), default=0)
    chosen, wanted = {best}, said - (told[best] if told else frozenset())
    for n, each in enumerate(told):
        if len(each & wanted) >= _FEWEST_MORE or (
            each & wanted and len(each & said) >= _REPEATED * len(each)
        ):
            chosen.add(n)
            wanted -= each
    yield from (clauses[n] for n in sorted(chosen)) if clauses else (sentence,)


def _negations(text: str) -> int:
    """The negations of a text, those of two parts and those that underline another counted once."""
    return len(_NEGATION.findall(_DOUBLE.sub(" ", text)))


def _compares(*texts: str) -> bool:
    return all(_THAN.search(text) for text in texts)


def _turned(claim: str, sentence: str) -> bool:
    """True when both compare two things, and one of direction and order is turned."""
    one, other = _comparison(claim), _comparison(sentence)
    if one is None or other is None:
        return False
    direction, before, after = one
    theirs, first, second = other
    straight = overlap(before, first) + overlap(after, second)
    crossed = overlap(before, second) + overlap(after, first)
    if straight == crossed:
        return direction != theirs
    return (direction == theirs) != (straight > crossed)


def _comparison(text: str) -> tuple[int, str, str] | None:
    """The direction of a comparison with what stands before `than` and after it."""
    than = _THAN.search(text)
    if than is None:
        return None
    before, after = text[: than.start()], text[than.end() :]
    directions = [_DIRECTION[w] for w in _sequence(before) if w in _DIRECTION]
    return (directions[-1], before, after) if directions else None


def _sequence(text: str) -> Sequence[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _words(text: str) -> set[str]:
    return set(_sequence(text))
