"""Contractions written without their apostrophe."""

import re
from collections.abc import Iterator, Mapping

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue

# Only forms that are no words themselves; `wont`, `cant`, `its` and `were` are.
_FORM = re.compile(
    r"(?<![\w'’\-@#/.])([Dd]o|[Dd]oes|[Dd]id|[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Hh]as|[Hh]ave|[Hh]ad"
    r"|[Cc]ould|[Ss]hould|[Ww]ould)nt(?![\w'’\-@/]|\.\w)"
)

_WORDS = {
    "im": "I'm", "ive": "I've", "thats": "that's", "whats": "what's", "theyre": "they're", "youre": "you're",
    "theres": "there's", "wheres": "where's", "heres": "here's", "youve": "you've", "weve": "we've",
    "theyve": "they've", "youll": "you'll", "theyll": "they'll", "itll": "it'll", "hes": "he's",
    "shes": "she's", "lets": "let's", "cant": "can't", "wont": "won't", "aint": "ain't",
}  # fmt: skip
_JOINED = re.compile(rf"(?<![\w'’\-@#/.&])(?:{'|'.join(_WORDS)})(?![\w'’\-@/]|\.\w)", re.IGNORECASE)
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


def contractions(parsed: ParsedText) -> Iterator[Issue]:
    """`dont` for `don't` and the like, with the apostrophe that the text uses."""
    mark = "’" if parsed.text.count("’") > parsed.text.count("'") else "'"
    for match in _FORM.finditer(parsed.text):
        start, end = match.span()
        named = match.group()[0].isupper() and start not in parsed.sentence_starts
        if named or not parsed.free(start, end):
            continue
        fix = f"{match.group(1)}n{mark}t"
        message = f'"{match.group()}" lacks its apostrophe'
        yield parsed.safe(start, end, fix, message, rule="contraction", category="spelling")
    for match in _JOINED.finditer(parsed.text):
        if _is_joined(parsed, match):
            word = match.group()
            fix = _WORDS[word.lower()].replace("'", mark)
            fix = fix[0].upper() + fix[1:] if word[0].isupper() else fix
            message = f'"{word}" lacks its apostrophe'
            yield parsed.safe(*match.span(), fix, message, rule="contraction", category="spelling")


def _is_joined(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when the word can only be a contraction here."""
    word, start = match.group(), match.start()
    if word[1:] != word[1:].lower() or not parsed.free(*match.span()):
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
