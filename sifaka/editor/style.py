"""Matters of style: long sentences and words that weaken a claim. Suggestions only."""

import re
from collections.abc import Iterator

from sifaka.editor.passage import Passage
from sifaka.record.results import Issue
from sifaka.text.prose import count_words

LONG = 40
"""Words above which a sentence is long."""

_HEDGE = re.compile(
    r"\b(?:basically|essentially|arguably|somewhat|actually|literally|in my opinion|very unique)\b",
    re.IGNORECASE,
)


def style(passage: Passage) -> Iterator[Issue]:
    """Long sentences and hedges."""
    text = passage.text
    for start, end in passage.sentences:
        count = count_words(text[start:end])
        # A span with a listing or a table in it is not one sentence.
        if count > LONG and not _has_lines_of_its_own(text[start:end]) and passage.free(start, end):
            yield passage.suggestion(
                start,
                end,
                f"a sentence of {count} words; consider splitting it",
                rule="long_sentence",
                category="wordiness",
                severity=2,
            )
    for match in _HEDGE.finditer(text):
        if passage.free(*match.span()):
            yield passage.suggestion(
                *match.span(),
                f'"{match.group()}" weakens the sentence',
                rule="hedge",
                category="wordiness",
                severity=1,
            )


def _has_lines_of_its_own(sentence: str) -> bool:
    return bool(re.search(r"\n\s*(?:[-*+•#|>]|\d{1,3}[.)])\s|```|~~~", sentence))
