"""Other words in place of all the words that rules may touch: the hardest edit there is."""

import codecs
import re

from sifaka.editor import protected
from sifaka.editor.protection import Cover
from sifaka.text.formats import Format

_WORD = re.compile(r"(?<![^\W_])[a-z]{4,}(?![^\W_])")


def scrambled(text: str, format_: Format) -> tuple[str, int]:
    """The text with each free word of four or more small letters turned by 13, and their number.

    A word keeps its length, as titles do not move when their underlines fit.
    """
    off_limits = Cover(protected(text, format_))
    count = 0

    def turned(match: re.Match[str]) -> str:
        nonlocal count
        if off_limits.touches(*match.span()):
            return match.group()
        count += 1
        return codecs.encode(match.group(), "rot13")

    return _WORD.sub(turned, text), count
