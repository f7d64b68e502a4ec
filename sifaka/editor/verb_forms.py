"""Verb forms that cannot follow an auxiliary: `didn't went`, `can sings`, `have saw`."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from sifaka.editor.agreement import opens_clause
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.editor.verbs import (
    BASE_OF_PAST,
    BASE_OF_THIRD,
    BASES,
    PARTICIPLE_OF_PAST,
    PAST_OF,
    UNCLEAR_PAST,
    gerund,
)
from sifaka.record.results import Issue

_SUBJECT = r"(?:I|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey|[Yy]ou)"
_NT = r"(?:n['’]?t| not)"
_VERB = r" (?P<verb>[a-z]+)(?![\w'’-])"

Form = Callable[[str], str | None]


def _base(verb: str) -> str | None:
    """The base of a past form or of a form in -s; None when it may be a base itself."""
    if verb in BASES or verb in {"is", "was", "used", "needs"}:
        return None
    past = None if verb in UNCLEAR_PAST - {"felt"} else BASE_OF_PAST.get(verb)
    return past or BASE_OF_THIRD.get(verb)


def _base_of_past(verb: str) -> str | None:
    return None if verb in UNCLEAR_PAST or verb in BASES else BASE_OF_PAST.get(verb)


def _base_of_any_past(verb: str) -> str | None:
    return None if verb in BASES else BASE_OF_PAST.get(verb)


def _gerund(verb: str) -> str | None:
    return gerund(verb) if verb in BASES else None


_FORMS: tuple[tuple[re.Pattern[str], Form, bool], ...] = (
    # didn't went, doesn't likes
    (re.compile(rf"\b(?:[Dd]id|[Dd]oes|[Dd]o){_NT}{_VERB}"), _base, False),
    # Did you saw
    (re.compile(rf"\b[Dd](?:id|oes) {_SUBJECT}{_VERB}"), _base_of_any_past, True),
    # He can plays
    (
        re.compile(
            rf"\b{_SUBJECT} (?:can|could|will|would|should|must|might|may|cannot"
            rf"|(?:ca|could|wo|would|should|must)n['’]t){_VERB}"
        ),
        _base,
        False,
    ),
    # I would have went
    (
        re.compile(rf"\b(?:would|could|should|might|must|may) (?:not )?have{_VERB}"),
        PARTICIPLE_OF_PAST.get,
        False,
    ),
    # I have saw
    (re.compile(rf"\b{_SUBJECT} (?:have|has|had) (?:just |already |never )?{_VERB[1:]}"),
     PARTICIPLE_OF_PAST.get, True),
    (re.compile(rf"\b{_SUBJECT}['’]ve{_VERB}"), PARTICIPLE_OF_PAST.get, True),
    (re.compile(rf"\b(?:[Mm]y|[Hh]is|[Hh]er|[Oo]ur) [a-z]+ has{_VERB}(?= (?:my|his|her|the|a|our)\b)"),
     PARTICIPLE_OF_PAST.get, True),
    # It was wrote by
    (re.compile(rf"\b(?:was|were|been|is|are){_VERB}(?= (?:by|when|in|on)\b)"),
     lambda verb: None if verb in {"came", "went", "became"} else PARTICIPLE_OF_PAST.get(verb), False),
    # wants to went, must to go
    (re.compile(rf"\b(?:want|wants|wanted|trying|tried|decided|going|able|like|have|has|had) to{_VERB}"),
     _base_of_past, False),
    # enjoy to walk, look forward to hear
    (re.compile(r"\b[Ll]ook(?:s|ed|ing)? forward to (?P<verb>hear|see|meet|be|have|receive|learn"
                r"|get|know|speak|join|become|begin)(?![\w'’-])"), _gerund, False),
)  # fmt: skip
_TO_GERUND = re.compile(
    rf"\b(?:enjoy|enjoys|enjoyed|avoid|avoids|avoided) (?P<drop>to {_VERB[1:]})"
)
_MUST_TO = re.compile(rf"\b{_SUBJECT} must (?P<drop>to {_VERB[1:]})")
_WHEN = re.compile(
    r"\b(?:Yesterday|Last (?:night|week|month|year|summer|winter|spring|autumn)),?"
    rf" {_SUBJECT}{_VERB}"
)
_AGO = re.compile(rf"\b(?:days|weeks|months|years) ago,? {_SUBJECT}{_VERB}")
_NUMBER = re.compile(r"(?:\b\w+ )?(?P<last>\b\w+) \Z")
_LONGEST = 60
"""Characters of the words before `days ago` that are examined."""


def _formed(
    form: Callable[[str], str | None], opens: bool, parsed: ParsedText, match: re.Match[str]
) -> Iterator[Issue]:
    fix = form(match["verb"])
    if fix and (not opens or _opens(parsed, match.start())):
        yield parsed.instead(match.span("verb"), fix, "verb_form")


def _to_gerund(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if fix := _gerund(match["verb"]):
        yield parsed.instead(match.span("drop"), fix, "verb_form")


def _must_to(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["verb"] in BASES:
        yield parsed.instead(match.span("drop"), match["verb"], "verb_form")


def _when(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match.start() in parsed.sentence_starts:
        yield from _past(parsed, match)


def _ago(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start = match.start()
    number = _NUMBER.search(parsed.text, max(0, start - _LONGEST), start)
    begins = {number.start(), number.start("last")} if number else ()
    for begin in parsed.sentence_starts.intersection(begins):
        if parsed.free(begin, match.end()):
            yield from _past(parsed, match)


def _past(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    fix = PAST_OF.get(BASE_OF_THIRD.get(match["verb"], match["verb"]))
    if fix and fix != match["verb"]:
        yield parsed.instead(match.span("verb"), fix, "verb_form")


def _opens(parsed: ParsedText, start: int) -> bool:
    """True at the start of a clause, and after the word of a question that starts a sentence."""
    if opens_clause(parsed, start):
        return True
    before = parsed.text[parsed.sentence_start_before(start) : start].strip().lower()
    return before in {"where", "when", "why", "how", "what", "who"}


verb_forms = PatternRule(
    [
        *((pattern, partial(_formed, form, opens)) for pattern, form, opens in _FORMS),
        (_TO_GERUND, _to_gerund),
        (_MUST_TO, _must_to),
        (_WHEN, _when),
        (_AGO, _ago),
    ]
)
"""Verbs in a form that the words before them rule out."""
