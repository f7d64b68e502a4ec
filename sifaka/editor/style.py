"""Matters of style: long sentences and words that weaken a claim. Suggestions only."""

import re
from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue
from sifaka.text.words import count_words

LONG = 40
"""Words above which a sentence is long."""

_HEDGE = re.compile(
    r"\b(?:basically|essentially|arguably|somewhat|actually|literally|in my opinion|very unique)\b",
    re.IGNORECASE,
)


def style(parsed: ParsedText) -> Iterator[Issue]:
    """Long sentences and hedges."""
    text = parsed.text
    for start, end in parsed.sentences:
        if end - start <= LONG:
            continue  # as many characters are not more words, in any script
        count = count_words(text[start:end])
        # A span with a listing or a table in it is not one sentence.
        if count > LONG and not _has_lines_of_its_own(text[start:end]) and parsed.free(start, end):
            message = f"a sentence of {count} words; consider splitting it"
            place = start, end
            yield parsed.issue(place, None, message, "long_sentence", "wordiness", safe=False)
    yield from _HEDGES(parsed)


def _has_lines_of_its_own(sentence: str) -> bool:
    return bool(re.search(r"\n\s*(?:[-*+•#|>]|\d{1,3}[.)])\s|```|~~~", sentence))


def _weakened(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    message = f'"{match.group()}" weakens the sentence'
    yield parsed.issue(match.span(), None, message, "hedge", "wordiness", safe=False, severity=1)


_HEDGES = PatternRule([(_HEDGE, _weakened)])
