"""Subjects and verbs that do not agree: `he go`, `they was`, `I has`."""

import re
from collections.abc import Iterator
from functools import partial

from sifaka.editor.nouns import SINGULARS
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.editor.verbs import BASE_OF_THIRD, PAST_OF, THIRD_OF
from sifaka.editor.words import words_of
from sifaka.record.results import Issue

_WORDS = words_of("agreement")
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
    if match.group(1).lower() in _WORDS["openers"] and not match.group(2):
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


_ADVERB = r"(?:(?:always|often|usually|never|sometimes|also|really|still|only|just) )?"
_SUBJECT = re.compile(
    rf"\b(?P<subject>I|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey|[Yy]ou"
    r"|(?:[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir) (?P<kin>\w+)"
    r"|[Tt]he (?P<person>\w+)"
    r"|(?P<every>[Ee]veryone|[Ee]verybody|[Nn]obody|[Ss]omeone|[Ss]omebody|[Nn]o one)"
    rf"|(?P<plural>[Tt]hese|[Tt]hose) (?P<things>\w+s)) {_ADVERB}(?P<verb>[a-z]+(?:['’]t)?)"
    r"(?![\w'’-])"
)
_OF_PRONOUN = {"i": "I", "he": "one", "she": "one", "it": "one"} | dict.fromkeys(
    ("we", "they", "you"), "many"
)
_TO_BE = {
    "I": {"is": "am", "are": "am", "were": "was"},
    "one": {"are": "is", "were": "was", "am": "is"},
    "many": {"is": "are", "was": "were", "am": "are"},
}
_NEGATED = {
    "I": {"doesn": "don", "hasn": "haven"},
    "one": {"don": "doesn", "haven": "hasn", "aren": "isn", "weren": "wasn"},
    "many": {"doesn": "don", "hasn": "haven", "isn": "aren", "wasn": "weren"},
}
# "If he were", "as it were": right, and so is the infinitive that may follow "it": "watch it grow".
_CONDITIONS = re.compile(r"\b(?:if|though|wish|wished|as|were|suppose|would|than)\b", re.IGNORECASE)

_INVERTED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?P<verb>[Dd]o) (?:he|she) [a-z]+"), "does"),
    (re.compile(r"\b(?P<verb>[Dd]o) it (?:hurt|work|matter|rain|seem|belong|mean|snow|cost|help)\b"), "does"),
    (re.compile(r"\b(?P<verb>[Dd]oes) (?:you|they|we) (?:\w+ )?[a-z]+"), "do"),
    (re.compile(r"\b(?P<verb>[Hh]ave) (?:he|she) [a-z]+"), "has"),
    (re.compile(r"\b(?P<verb>[Hh]as) (?:you|they|we) [a-z]+"), "have"),
    (re.compile(r"\b(?P<verb>[Ww]as) (?:you|they|we) [a-z]+"), "were"),
    (re.compile(r"\b(?P<verb>[Ii]s) (?:you|they|we) [a-z]+"), "are"),
    (re.compile(r"\b(?P<verb>[Aa]re) (?:he|she|it) [a-z]+"), "is"),
)  # fmt: skip
_QUESTION_END = re.compile(r"[^.!?\n]{0,500}+(?:\n[^.!?\n]{0,500}+)?[?]")
_NUMBERS = r"(?:two|three|four|five|six|seven|eight|nine|ten|many(?! an? )|several)"
_THERE = re.compile(
    rf"\b[Tt]here (?P<verb>is|was) {_NUMBERS}(?! (?:feet|minutes|hours|days|weeks|months|years|dollars|percent|miles|pounds|euros|times|o['’]clock)\b)"
)
_ONE_OF = re.compile(
    r"\b(?:[Oo]ne|[Ee]ach) of (?:the|my|his|her|our|their|these|those) [a-z]+s (?P<verb>are|have|were|do|don['’]t)(?![\w'’])"
)
_MASS = re.compile(
    r"\b(?:[Tt]he|[Tt]his|[Mm]y|[Yy]our|[Oo]ur) (?:news|information|furniture|advice|homework|luggage|weather|library|museum) (?P<verb>are|were|have)(?![\w'’])"
)
_SINGULAR = {
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "don’t": "doesn’t",
}
_PLURAL = {"is": "are", "was": "were"}


def _subject(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    """A verb and the pronoun or the person before it."""
    if fix := _fix(parsed, match):
        message = f'"{match["subject"]}" goes with "{fix}"'
        yield parsed.issue(match.span("verb"), fix, message, "agreement")


def _question(fix: str, parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if _asks(parsed, match):
        yield parsed.instead(match.span("verb"), fix, "agreement")


def _there(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    yield parsed.instead(match.span("verb"), _PLURAL[match["verb"]], "agreement")


def _one(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if opens_clause(parsed, match.start()):
        yield parsed.instead(match.span("verb"), _SINGULAR[match["verb"]], "agreement")


def _asks(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when a question begins with the words, or with one question word before them."""
    begin = parsed.sentence_start_before(match.start())
    before = parsed.text[begin : match.start()].split()
    end = _QUESTION_END.match(parsed.text, match.end())
    asked = end is not None and (
        not before or (len(before) == 1 and before[0].lower() in _WORDS["question"])
    )
    return asked and (begin in parsed.sentence_starts)


def _fix(parsed: ParsedText, match: re.Match[str]) -> str | None:
    number = _number(match)
    start, verb = match.start(), match["verb"]
    if number is None or not (opens_clause(parsed, start) or _goes_on(parsed, match)):
        return None
    if verb.endswith(("'t", "’t")):
        stem = _NEGATED[number].get(verb[:-2])
        return None if stem is None else stem + verb[-2:]
    if fix := _TO_BE[number].get(verb):
        return None if _may_be_right(parsed, match, number) else fix
    if match["every"] and verb not in _WORDS["states"] | {"have", "do"}:
        return None
    fix = THIRD_OF.get(verb) if number == "one" else BASE_OF_THIRD.get(verb)
    if fix in {None, "is", "be"} or verb == "be":
        return None
    if match["person"] and verb in {"work", "play", "cook"} and number == "one":
        return None
    if is_in_the_past(parsed, start):
        base = verb if number == "one" else fix
        return PAST_OF.get(base or "")
    if number == "one" and _is_order(parsed, match):
        return None
    return fix


def _goes_on(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True for `and he need` in a sentence that begins with `He`."""
    before = parsed.text[parsed.sentence_start_before(match.start()) : match.start()].lower()
    subject = match["subject"].lower()
    return before.endswith(" and ") and before.startswith(f"{subject} ") and len(before) > 12


def _number(match: re.Match[str]) -> str | None:
    if match["every"]:
        return "one"
    if number := _OF_PRONOUN.get(match["subject"].lower()):
        return number
    if match["kin"]:
        return (
            "one"
            if match["kin"] in _WORDS["people"]
            else "many"
            if match["kin"] in _WORDS["many"]
            else None
        )
    if match["person"]:
        one, many = match["person"] in _WORDS["persons"], match["person"] in _WORDS["groups"]
        many = many or (match["verb"] in {"is", "was", "has"} and match["person"] in SINGULARS)
        return "one" if one else "many" if many else None
    return "many" if match["verb"] in {"is", "was", "has"} and match["things"][-2] != "s" else None


def _may_be_right(parsed: ParsedText, match: re.Match[str], number: str) -> bool:
    """True where `were` may be a subjunctive, and where `I` may be a name."""
    before = parsed.text[parsed.sentence_start_before(match.start()) : match.start()]
    if match["verb"] == "were":
        return bool(_CONDITIONS.search(before)) or match.start() not in parsed.sentence_starts
    follows = parsed.word_after(match.end())
    return number == "I" and match["verb"] in {"is", "are"} and follows in {"the", "a", "an", ""}


def _is_order(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True for `Let my brother go` and `Rather than he pay`, where no `-s` belongs."""
    begin = parsed.sentence_start_before(match.start())
    before = parsed.text[begin : match.start()].lower()
    return bool(re.search(r"\b(?:let|make|lest|than|that|should|may|if)\b", before))


agreement = PatternRule(
    [
        (_SUBJECT, _subject),
        *((pattern, partial(_question, fix)) for pattern, fix in _INVERTED),
        (_THERE, _there),
        (_ONE_OF, _one),
        (_MASS, _one),
    ]
)
"""Verbs that do not agree with their subjects, before or behind them."""
