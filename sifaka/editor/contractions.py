"""Contractions written without their apostrophe."""

import re
from collections.abc import Iterator, Mapping

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue

# A letter first, which is seen faster than what stands before it.
# Only forms that are no words themselves; `wont`, `cant`, `its` and `were` are.
_FORM = re.compile(
    r"(?=[DIAWHCSdiawhcs])(?<![\w'’\-@#/.])([Dd]o|[Dd]oes|[Dd]id|[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Hh]as|[Hh]ave|[Hh]ad"
    r"|[Cc]ould|[Ss]hould|[Ww]ould)nt(?![\w'’\-@/]|\.\w)"
)

_WORDS = {
    "im": "I'm", "ive": "I've", "thats": "that's", "whats": "what's", "theyre": "they're", "youre": "you're",
    "theres": "there's", "wheres": "where's", "heres": "here's", "youve": "you've", "weve": "we've",
    "theyve": "they've", "youll": "you'll", "theyll": "they'll", "itll": "it'll", "hes": "he's",
    "shes": "she's", "lets": "let's", "cant": "can't", "wont": "won't", "aint": "ain't",
}  # fmt: skip
_FIRST = "".join(sorted({word[0] for word in _WORDS}))
_JOINED = re.compile(
    rf"(?=[{_FIRST}])(?<![\w'’\-@#/.&])(?:{'|'.join(_WORDS)})(?![\w'’\-@/]|\.\w)", re.IGNORECASE
)
# These are words as well, or names: what must follow, and what must stand before.
_AFTER = {
    "im": r" (?:not|so|sorry|sure|going|glad|happy|a|the|very|in|at|on|afraid|writing|looking|just|here|still|fine|your)\b",
    "ive": r" (?:been|had|got|never|seen|lost|done|just|always|already|made|found|read|heard|tried)\b",
    "hes": r" (?:a|an|the|my|not|been|going|so|very|in|at|here|gone|got|his|always)\b",
    "shes": r" (?:a|an|the|my|not|been|going|so|very|in|at|here|gone|got|her|always)\b",
    "lets": r" (?:go (?!of)|meet|see|talk|start|try|not|do|eat|play|begin|find out|discuss|hope|say|wait|stop)\b",
    "cant": r" [a-z]+",
    "wont": r" (?!to\b)[a-z]+",
}
_BEFORE: Mapping[str, str] = dict.fromkeys(
    ("cant", "wont"), r"(?:\b(?:I|you|he|she|it|we|they|that|this|who|there) )\Z"
)


def _negated(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if not match.group()[0].isupper() or match.start() in parsed.sentence_starts:
        yield _issue(parsed, match, f"{match.group(1)}n't")


def _joined(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if _is_joined(parsed, match):
        fix = _WORDS[match.group().lower()]
        yield _issue(parsed, match, fix[0].upper() + fix[1:] if match.group()[0].isupper() else fix)


def _issue(parsed: ParsedText, match: re.Match[str], fix: str) -> Issue:
    fix = fix.replace("'", parsed.apostrophe)
    message = f'"{match.group()}" lacks its apostrophe'
    return parsed.issue(match.span(), fix, message, "contraction", "spelling")


def _is_joined(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when the word can only be a contraction here."""
    word, start = match.group(), match.start()
    if word[1:] != word[1:].lower():
        return False
    if word[0].isupper() and start not in parsed.sentence_starts:
        return False
    lowered = word.lower()
    if lowered in _AFTER and not re.compile(_AFTER[lowered]).match(parsed.text, match.end()):
        return False
    before = _BEFORE.get(lowered)
    return before is None or bool(
        re.search(before, parsed.text[max(0, start - 12) : start], re.IGNORECASE)
    )


contractions = PatternRule([(_FORM, _negated), (_JOINED, _joined)])
"""`dont` for `don't` and the like, with the apostrophe that the text uses."""
