"""Words that are disguised to pass a list: `sh1t`, `f*ck`, `f.u.c.k`, `fuuuck`."""

import re

_LOOKALIKES = {
    "a": "a@4*", "e": "e3*", "i": "i1!*", "o": "o0*", "s": "s$5*", "t": "t7*", "u": "uv*",
    "c": "c(k*", "h": "h*", "b": "b8*",
}  # fmt: skip
_LEAST_MASKED = 4
"""Letters of the shortest word that may be masked: `a*s` may as well be a product."""


def disguised(stem: str) -> str:
    """A pattern for the stem that starts and ends on a word boundary of the stem's own letters.

    The first and last letter stand as they are or doubled, so that a row of stars is no word; the
    others may be look-alikes, stars, or repeated. Longer stems may also be spelled out
    with one and the same mark between the letters.
    """
    if len(stem) < _LEAST_MASKED:
        return stem
    inner = "".join(_lookalike(letter) for letter in stem[1:-1])
    masked = f"{stem[0]}+{inner}{stem[-1]}+"
    spelled = rf"{stem[0]}(?P<{_group(stem)}>[.\-_ *]){f'(?P={_group(stem)})'.join(stem[1:])}"
    return f"(?:{masked}|{spelled})"


def word(*stems: str, endings: str = "s?") -> str:
    """A pattern for whole words: any of the stems, disguised or not, with one of the endings."""
    return rf"(?<![^\W_])(?:{'|'.join(map(disguised, stems))})(?:{endings})(?![^\W_]|[*$@])"


def _lookalike(letter: str) -> str:
    return f"[{re.escape(_LOOKALIKES[letter])}]+" if letter in _LOOKALIKES else f"{letter}+"


def _group(stem: str) -> str:
    return f"by_{stem}"
