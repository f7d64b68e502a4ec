"""Rates, eras, ranks and bounds: of a claim and of the sentence that is quoted for it."""

import re

from sifaka.evidence.claims.polarity import clauses_for
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.reading import Reading

_RATE = re.compile(
    r"\b(?:per|a|an|each|every|pro|je|par|por)[ \t]+"
    r"(second|minute|hour|day|night|week|month|year|decade|century|sekunde|stunde|tag|woche|monat|jahr"
    r"|seconde|heure|jour|semaine|mois|an|segundo|minuto|hora|día|semana|mes|año)\b"
    r"|\b(k?m|mi(?:les)?)(?:/h|[ \t]+an[ \t]+hour)|\b(km/h|mph)\b",
    re.IGNORECASE,
)
_RANKED = re.compile(
    r"\b(second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:nd|rd|th)|one\s+of\s+the|among\s+the"
    r"|almost\s+the|not\s+the)\s+(most\s+\w+|least\s+\w+|\w{2,}est)\b",
    re.IGNORECASE,
)
_ERA = re.compile(r"\d\s*(BCE?|B\.C\.|v\.\s?Chr\.|av\.\s?J\.-C\.|a\.\s?C\.)|\b(AD|CE)\b")
_STANDING = re.compile(
    r"\b(than\s+in|before|after|since|until|till|from|by|to|in|on|at|during|vor|nach|seit|bis|avant|après|depuis"
    r"|jusqu.à|antes\s+de|después\s+de|desde|hasta)\s+(?:the\s+(?:year\s+)?|year\s+)?[$€£]?$",
    re.IGNORECASE,
)
_SAME = {"on": "in", "at": "in", "during": "in", "till": "until"}
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_NAMES = ("at least", "at most", "exactly")
_APART = frozenset(
    pair
    for one, other in (
        ("before", "in"), ("before", "after"), ("before", "since"),
        ("than in", "in"), ("until", "in"), ("until", "after"), ("until", "since"),
        ("until", "from"),
        ("to", "by"), ("to", "from"), ("from", "by"),
        ("at least", "at most"), ("at least", "exactly"), ("at most", "exactly"),
    )
    for pair in ((one, other), (other, one))
)  # fmt: skip
"""Bounds and prepositions that cannot both stand before one number."""
_BOUNDS = re.compile(
    r"\b(?:(at\s+least|not?\s+(?:fewer|less)\s+than|nicht\s+weniger\s+als|more\s+than|over|above|a\s+minimum\s+of|mindestens|au\s+moins|al\s+menos)"
    r"|(at\s+most|less\s+than|fewer\s+than|under|below|up\s+to|not?\s+more\s+than|nicht\s+mehr\s+als|a\s+maximum\s+of|höchstens"
    r"|au\s+plus|como\s+máximo)|(exactly|precisely|genau|exactement|exactamente))\s+\W*$",
    re.IGNORECASE,
)
MOST_FACTS = 20
"""Numbers and dates of a claim that are looked at one by one."""
_REACH = 30
"""Characters before a number in which its preposition stands."""


def bounded_otherwise(claim: Reading, sentence: Reading) -> str:
    """The reason where a claim has another rate, era, rank or bound than the sentence, or empty."""
    near = " ".join(clauses_for(claim.text, sentence.text))
    return (
        _rated_otherwise(claim.text, near)
        or _of_another_era(claim.text, near)
        or _bound_otherwise(claim, sentence)
        or _ranked_otherwise(claim.text, near)
    )


def told_of(ours: str, theirs: str) -> str:
    """The reason in words."""
    return f"the claim says {ours!r}, the words quoted {theirs!r}"


def counted(reading: Reading) -> list[Fact]:
    """The numbers and dates."""
    return [fact for fact in reading.facts if fact.kind in {"number", "date"}]


def _ranked_otherwise(claim: str, near: str) -> str:
    """The reason where the sentence says `second largest`, or `one of the largest`."""
    for found in _RANKED.finditer(near):
        best = re.escape(found[2])
        plain = re.search(rf"\b{best}\b", claim, re.IGNORECASE)
        if plain and not re.search(rf"\b{re.escape(found[1])}\s+{best}\b", claim, re.IGNORECASE):
            return told_of(plain[0], found[0])
    return ""


def _rated_otherwise(claim: str, near: str) -> str:
    ours, theirs = _rates(claim), _rates(near)
    other, instead = ours.keys() - theirs.keys(), theirs.keys() - ours.keys()
    return told_of(ours[min(other)], theirs[min(instead)]) if other and instead else ""


def _rates(text: str) -> dict[str, str]:
    return {
        (m[1] or m[2] or m[3]).casefold().replace("km/h", "k").replace("mph", "m")[:2]: m[0]
        for m in _RATE.finditer(text)
    }


def _of_another_era(claim: str, near: str) -> str:
    ours, theirs = _ERA.search(claim), _ERA.search(near)
    if bool(ours and ours[1]) == bool(theirs and theirs[1]):
        return ""
    found = ours or theirs
    return told_of(found[0], "another era") if found else ""


def _bound_otherwise(claim: Reading, sentence: Reading) -> str:
    """The reason where the same number is another bound, or stands after another preposition."""
    for fact in counted(claim)[:MOST_FACTS]:
        same = [f for f in counted(sentence) if {*f.keys} & {*fact.keys}]
        for pattern in (_BOUNDS, _STANDING):
            ours = _before(pattern, claim.text, fact)
            theirs = [_before(pattern, sentence.text, each) for each in same]
            if "than in" in theirs and _THAN.search(claim.text):
                continue
            if theirs and all((ours, each) in _APART for each in theirs):
                return told_of(f"{ours} {fact.shown}", f"{theirs[0]} {same[0].shown}")
    return ""


def _before(pattern: re.Pattern[str], text: str, fact: Fact) -> str:
    found = pattern.search(text[max(0, fact.start - _REACH) : fact.start])
    if found is None:
        return ""
    if pattern is _BOUNDS:
        return next(name for name, said in zip(_NAMES, found.groups(), strict=True) if said)
    word = " ".join(found[1].casefold().split())
    return _SAME.get(word, word)
