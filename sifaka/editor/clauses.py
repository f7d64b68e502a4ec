"""Places where a clause begins, so that the next pronoun is its subject."""

import re

from sifaka.editor.lexicon import lexicon
from sifaka.editor.parsed_text import ParsedText

# `that he go` is a subjunctive, and after `and` the pronoun may be the second of two subjects.
_OPENERS = lexicon("because but when if while although though since so where why until unless")
_BEFORE = re.compile(r"([\w'’]+)(,?) \Z")
_PAST_TIME = re.compile(
    r"\b(?:yesterday|ago|last (?:night|week|month|year|summer|winter|spring|autumn))\b",
    re.IGNORECASE,
)
_REST = re.compile(r"[^.!?\n]{0,500}")
_AUXILIARY = re.compile(
    r"^\W*(?:do|does|did|can|could|will|would|shall|should|may|might|must|is|are|was|were|have|has"
    r"|had|let)\b",
    re.IGNORECASE,
)


def opens_clause(parsed: ParsedText, start: int) -> bool:
    """True when the word at `start` is the first of its sentence or of a clause in it.

    Not after a comma in a question, for `Did she, he or they go` has one as well.
    """
    if start in parsed.sentence_starts:
        return True
    match = _BEFORE.search(parsed.text, max(0, start - 40), start)
    if match is None or not parsed.free(match.start(), match.end()):
        return False
    if match.group(1).lower() in _OPENERS and not match.group(2):
        return True
    if not match.group(2):
        return False
    sentence = parsed.text[parsed.sentence_start_before(start) : start]
    return "," in match.group() and not _AUXILIARY.match(sentence) and sentence.count(",") == 1


def is_in_the_past(parsed: ParsedText, start: int) -> bool:
    """True when the sentence says that it happened yesterday, last year and the like."""
    begin = parsed.sentence_start_before(start)
    after = _REST.match(parsed.text, start)
    return bool(_PAST_TIME.search(parsed.text, begin, after.end() if after else start))
