"""Words of a claim that the sentence quoted for it has not, or has of another."""

import re
from difflib import SequenceMatcher

from sifaka.evidence.claims.polarity import clauses_of, parts_of
from sifaka.evidence.passages import stems
from sifaka.validators.facts.reading import Reading, names_of, read

_FEWEST = 2
_NEARLY = 0.6
"""The likeness from which a claim repeats a sentence, so that another word in it is a change."""
_LONGEST_NAME = 3
_BEFORE_NAMES = frozenset(
    re.findall(
        r"\w+",
        """by from of in at for to with her his their its von vom der dem den bei par de del por la
        el les des aus""",
    )
)
_ACCORDING = re.compile(
    r"\W*(?:according\s+to|as\s+reported\s+by|laut|selon|d[’']après|según|secondo)\b", re.IGNORECASE
)
_REPORTS = re.compile(
    r"\b(?:reports?|reported|sa(?:ys?|id)|states?|stated|announce[sd]?|according\s+to|meldete?|sagte?|laut"
    r"|selon|dit|según|dice|dijo)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


def valued(reading: Reading) -> str:
    """The text with numbers as digits: twelve and 12 are one word."""
    text, at, parts = reading.text, 0, list[str]()
    numbers = (f for f in reading.facts if f.kind == "number" and f.value is not None)
    for fact in sorted(numbers, key=lambda fact: fact.start):
        if fact.start >= at:
            parts += [text[at : fact.start], f" {fact.value} "]
            at = fact.end
    return "".join((*parts, text[at:]))


def added(ours: Reading, quoted: str, before: str) -> str:
    """The reason where a part or the end of a claim is about something that is not quoted."""
    said = f"{before} {valued(read(quoted))}"
    here = stems(said)
    for part in parts_of(valued(ours)):
        told = stems(part)
        if len(told) >= _FEWEST and not told & here:
            return f"the words quoted do not say {part.strip()!r}"
    end: list[str] = []
    for word in reversed(_WORD.findall(valued(ours))):
        told = stems(word)
        if len(told) > 1 or told & here:
            break
        end += [word] if told else []
    return f"the words quoted do not say {' '.join(reversed(end))!r}" if len(end) >= _FEWEST else ""


def said_of_another(ours: Reading, quoted: str) -> str:
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
    if _REPORTS.search(ours.text) and any(
        _ACCORDING.match(clause) and name <= stems(clause) for clause in clauses for name in named
    ):
        return ""
    others = [
        fact.shown for fact in names_of(read(best)) if not stems(fact.shown) & stems(ours.text)
    ]
    return f"the words quoted say it of {others[0]!r}" if others else ""


def exchanged(claim: str, quoted: str, before: str) -> str:
    """A word that stands in a claim in the place of another one, where all else is repeated.

    A sentence need not repeat the subject of its document, unless it names another.
    """
    ours, theirs = _WORD.findall(claim), _WORD.findall(quoted)
    a, b = [w.casefold() for w in ours], [w.casefold() for w in theirs]
    matcher = SequenceMatcher(None, b, a, autojunk=False)
    if sum(block.size for block in matcher.get_matching_blocks()) < _NEARLY * len(a):
        return ""
    known = stems(quoted)
    told = [n for n, word in enumerate(a) if stems(word)]
    for kind, i, j, m, n in matcher.get_opcodes():
        subject = bool(told) and m <= told[0] < n
        if kind != "replace" or not (subject or (i and m)) or n - m > _LONGEST_NAME:
            continue
        if subject and j - i > _LONGEST_NAME:
            continue
        old, new = " ".join(theirs[i:j]), " ".join(ours[m:n])
        named = any(word[:1].isupper() for word in theirs[i:j])
        if stands_in(new, before) and (subject or not named):
            continue
        names = subject or a[m - 1] in _BEFORE_NAMES or new[:1].isupper()
        if names and stems(new) and stems(old) and not stems(new) & known:
            return f"the claim says {new!r} where the words quoted say {old!r}"
    return ""


def stands_in(name: str, text: str) -> bool:
    """True when all telling words of a name stand in a text."""
    return stems(name) <= stems(text)
