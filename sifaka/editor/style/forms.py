"""The forms of a text that are measured."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from statistics import mean, pstdev

from sifaka.editor.style.prose import Prose
from sifaka.text.prose import Span

_DASH = re.compile(r"(?<=\w)(?: ?— ?| – | -- )(?=\w)")
_LABEL = re.compile(
    r"^[ \t]{0,12}(?:(?:[-*+•]|\d{1,3}[.)])[ \t]{1,4})?(?:\*\*|__)[^*_\n]{2,60}(?:\*\*|__)",
    re.MULTILINE,
)
_EMOJI = re.compile("[\U0001f300-\U0001faff✀-➿☀-⛿]️?")
_ITEM = r"[\w’'-]{3,24}(?: [\w’'-]{1,24}){0,2}"
_TRIAD = re.compile(rf"\b{_ITEM}, {_ITEM}, (?:and|or) {_ITEM}")


def dashes(prose: Prose, above: float) -> Sequence[Span]:
    """Dashes between words, where there are more than `above` of them in 100 words."""
    return _dense([match.span() for match in _DASH.finditer(prose.text)], prose, above)


def triads(prose: Prose, above: float) -> Sequence[Span]:
    """Rows of three short items, where there are more than `above` of them in 100 words."""
    return _dense([match.span() for match in _TRIAD.finditer(prose.text)], prose, above)


def bold_labels(prose: Prose, above: float) -> Sequence[Span]:
    """Lines that begin with bold words, where there are more than `above`."""
    found = [match.span() for match in _LABEL.finditer(prose.raw)]
    return found if len(found) > above else ()


def emoji(prose: Prose, above: float) -> Sequence[Span]:
    """Pictographs, where there are more than `above`."""
    found = [match.span() for match in _EMOJI.finditer(prose.raw)]
    return found if len(found) > above else ()


def evenness(prose: Prose, above: float) -> Sequence[Span]:
    """The first whole sentence, where eight or more have lengths that differ little.

    The evenness is 1 less the deviation of their lengths as a part of the mean.
    """
    ends = [end for _, end in prose.sentences]
    found = Counter(bisect_left(ends, stop) for _, _, stop in prose.tokens)
    lengths = [length for length in found.values() if length > 2]
    if len(lengths) < 8 or 1 - pstdev(lengths) / mean(lengths) <= above:
        return ()
    whole = (span for span in prose.sentences if prose.text[span[1] - 1] in ".!?")
    return [next(whole, prose.sentences[0])]


def _dense(found: list[Span], prose: Prose, above: float) -> Sequence[Span]:
    return found if len(found) > max(1, above * prose.words / 100) else ()
