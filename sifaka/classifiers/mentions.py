"""Finds quoted words: a text that talks about a word does not say it to its reader."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span

_QUOTED = re.compile(
    r"“[^“”\n]{1,400}”|„[^„“”\n]{1,400}[“”]|«[^«»\n]{1,400}»|‘[^‘\n]{1,400}?’(?!\w)|"
    r'(?<![\w"])"(?=\S)[^"\n]{1,400}(?<=\S)"(?![\w"])|'
    r"(?<![\w'])'(?=\S)[^'\n]{1,120}(?<=\S)'(?![\w'])|"
    r"^[ \t]{0,3}>[^\n]*$",
    re.MULTILINE,
)
_TALKED_ABOUT = re.compile(
    r"(?:\b(?:not|never|nor|without|don't|doesn't|didn't|isn't|aren't|wasn't|can't|cannot|"
    r"(?:the|an?) (?:word|term|phrase|insult|slur|claim|belief|idea|stereotype|myth|prejudice)|"
    r"(?:says?|said) that|"
    r"(?:claim|claims|claimed|believe|believes|assume|assumes|assuming|suggest|suggests) that|"
    r"(?:called|calling|calls) (?:him|her|me|them|us|people))\b)[^.,;:!?\n]{0,30}$",
    re.IGNORECASE,
)


class Mentions:
    """The quotations, block quotes and code of one text, and what is denied or reported."""

    def __init__(self, text: str) -> None:
        self._text = text
        spans = sorted([*(match.span() for match in _QUOTED.finditer(text)), *code_spans(text)])
        self._spans = _merged(spans)
        self._starts = [start for start, _ in self._spans]

    def quotes(self, at: int) -> bool:
        """True when the place is inside a quotation or in code."""
        before = bisect_right(self._starts, at)
        return before > 0 and at < self._spans[before - 1][1]

    def reports(self, at: int) -> bool:
        """True when the words there are denied, or reported as another person's words or belief."""
        return bool(_TALKED_ABOUT.search(self._text[max(0, at - 80) : at].replace("’", "'")))


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
