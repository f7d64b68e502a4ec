"""Finds the paragraphs that are not English, so that rules for English skip them."""

import re
from collections.abc import Iterator

from sifaka.text.prose import Span
from sifaka.text.tables import words_of

_PARAGRAPH = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_WORDS = words_of(__file__, "language")
ENGLISH = _WORDS["english"]
"""The words that most English sentences have some of."""
_POINTS = {
    word: (
        0 if word not in ENGLISH else 1 if word in _WORDS["shared"] else 2,
        0
        if word not in _WORDS["other"]
        else 1
        if word in _WORDS["shared"] or word in ENGLISH
        else 2,
    )
    for word in ENGLISH | _WORDS["other"]
}
"""The points of a word for English, and for other languages."""
_LETTER = re.compile("[ßøłęąśżźćńőűãõğışěřťďůčšžœæåñ]")
_ENDINGS = tuple(_WORDS["endings"])
_ENDING = re.compile(rf"\w{{3}}(?:{'|'.join(_ENDINGS)})$")
_SENTENCE = re.compile(r"[^\n.!?…]+")


def foreign(text: str) -> Iterator[Span]:
    """The paragraphs and single sentences that look like another language than English.

    None overlaps another. What gives no evidence of its own goes with the paragraph, or with the
    whole text. A text without any evidence counts as English.
    """
    whole = None  # whether the text is foreign as a whole: most texts need not be asked
    for match in _PARAGRAPH.finditer(text):
        english, other = _evidence(_WORD.findall(match.group()))
        if not english and whole is None:
            in_english, in_others = _evidence(_WORD.findall(text))
            whole = in_others > in_english
        if (other > english and other >= 2) or (whole and not english):
            yield match.span()
        if other < 4 or other > english:
            continue
        for sentence in _SENTENCE.finditer(match.group()):
            english, other = _evidence(_WORD.findall(sentence.group()))
            if other >= 4 and other > english * 2:
                yield match.start() + sentence.start(), match.start() + sentence.end()


def _evidence(words: list[str]) -> tuple[int, int]:
    """Points for English and for other languages: two for a word of one side only."""
    english = other = 0
    for number, word in enumerate(words):
        lowered = word.lower()
        if known := _POINTS.get(lowered):
            # Los Angeles, El Niño, Van der Berg: names of any origin stand in English too.
            if lowered in ENGLISH or not number or not word[0].isupper():
                english += known[0]
                other += known[1]
        elif number and word[0].isupper():
            continue
        elif not lowered.isascii():
            other += 2 if ord(lowered[0]) > 0x36F or _LETTER.search(lowered) else 1
        elif lowered.endswith(_ENDINGS) and _ENDING.search(lowered):
            other += 1
    return english, other
