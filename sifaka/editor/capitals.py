"""Capitals that every style wants: `I`, the days, the months, a sentence's first pronoun."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue
from sifaka.text.tables import words_of

_I = re.compile(r"i(?<![\w'’.\-/@#`(\[].)(?P<short>['’](?:m|ve|ll|d))?(?![\w'’(\[=+*/-]|\.\w)")
_WORDS = words_of(__file__, "capitals")
_CHILDHOOD = re.compile(r" \w{1,20} (?:young|a|little|small|\d{1,3})\b")
_ABBREVIATION = re.compile(r"(?:etc|approx|incl|resp|min|max|sec|vol|fig|par)\. \Z")


def capitals(parsed: ParsedText) -> Iterator[Issue]:
    """Small letters where a capital belongs."""
    # `i` is a variable where no verb follows, unless the text has shown the habit.
    found = [match for match in _I.finditer(parsed.text) if parsed.free(*match.span())]
    habit = any(_is_person(parsed, match) for match in found)
    for match in found:
        if habit or _is_person(parsed, match):
            yield _issue(parsed, match.start(), match.start() + 1)
    yield from _NAMES(parsed)


def _is_person(parsed: ParsedText, match: re.Match[str]) -> bool:
    if match["short"]:
        return True
    follows = parsed.word_after(match.end()).replace("’", "'")
    before = parsed.text[max(0, match.start() - 40) : match.start()]
    if re.search(r"\b(?:[Mm]y|[Hh]is|[Hh]er) \w+ and \Z", before):
        return True
    if re.search(r"\b[Ww]hen \Z", before) and follows in {"was", "am"}:
        return bool(_CHILDHOOD.match(parsed.text, match.end()))
    return follows in _WORDS["verbs"]


def _name(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    for group, word in match.groupdict(default="").items():
        if word:
            yield _issue(parsed, *match.span(group))


def _dated(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    # A host, a key and a row of a table may have the name of a day.
    yield _issue(parsed, *match.span(), safe=parsed.word_before(match.start()) in _WORDS["dated"])


def _next(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if not _ABBREVIATION.search(parsed.text, max(0, match.start() - 10), match.start()):
        yield _issue(parsed, *match.span())


def _issue(parsed: ParsedText, start: int, end: int, *, safe: bool = True) -> Issue:
    word = parsed.text[start:end]
    fix = word[0].upper() + word[1:]
    return parsed.issue((start, end), fix, f'"{fix}" with a capital', "capital", safe=safe)


_NAMES = PatternRule.of("capitals", dated=_dated, name=_name, next=_next)
