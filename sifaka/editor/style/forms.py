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
_COMMON = frozenset(
    re.findall(
        r"\w+", "the a an of to in on at by for with and or but is are was be it this that as"
    )
)


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
    """The first sentence, where eight or more have lengths that differ little.

    The evenness is 1 less the deviation of their lengths as a part of the mean.
    """
    ends = [end for _, end in prose.sentences]
    found = Counter(bisect_left(ends, stop) for _, _, stop in prose.tokens)
    lengths = [length for length in found.values() if length > 2]
    if len(lengths) < 8 or 1 - pstdev(lengths) / mean(lengths) <= above:
        return ()
    return [prose.sentences[0]]


def repeated(prose: Prose, above: float) -> Sequence[Span]:
    """The last place of each four words that stand in the text more than `above` times."""
    words = [word for word, _, _ in prose.tokens]
    rows = Counter(zip(words, words[1:], words[2:], words[3:], strict=False))
    often = {row for row, n in rows.items() if n > above and len(_COMMON.intersection(row)) < 3}
    last = {row: at for at in range(len(words) - 3) if (row := tuple(words[at : at + 4])) in often}
    found: list[Span] = []
    for at in sorted(last.values()):
        span = prose.tokens[at][1], prose.tokens[at + 3][2]
        if not found or found[-1][1] < span[0]:
            found.append(span)
    return found


def _dense(found: list[Span], prose: Prose, above: float) -> Sequence[Span]:
    return found if len(found) > max(1, above * prose.words / 100) else ()
