"""The Flesch-Kincaid grade of English prose, sentence by sentence."""

import re
from typing import NamedTuple

from sifaka.classifiers.syllables import syllables
from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span, urls
from sifaka.text.sentences import blanked, sentence_spans

_NOT_PROSE = re.compile(r"^[ \t]*(?:#{1,6}[ \t].*|\|.*|(?:[-=*_][ \t]*){3,})$", re.MULTILINE)
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’-][A-Za-z\u00c0-\u024f]+)*")
_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f]")


class Measure(NamedTuple):
    """The counts of one sentence, or of several together."""

    span: Span
    sentences: int
    words: int
    syllables: int

    @property
    def grade(self) -> float:
        """The US school year that reads it with ease, to one decimal.

        Kincaid, Fishburne, Rogers and Chissom, "Derivation of New Readability Formulas for Navy
        Enlisted Personnel", 1975.
        """
        # Rounded, so that a text never fails for a difference that its message does not show.
        return round(
            0.39 * self.words / self.sentences + 11.8 * self.syllables / self.words - 15.59, 1
        )


def measured(text: str) -> list[Measure]:
    """The sentences with at least one word; nothing when the text is mostly in another script.

    Headings, tables, code and URLs do not count, and each item of a list is a sentence of its own.
    """
    prose = _prose_only(text)
    latin = 0
    found: list[Measure] = []
    for start, end in sentence_spans(prose):
        words: list[str] = _LATIN_WORD.findall(prose, start, end)
        if words:
            latin += sum(map(len, words))
            found.append(Measure((start, end), 1, len(words), sum(map(syllables, words))))
    others = 0 if prose.isascii() else len(_OTHER_LETTER.findall(prose))
    return found if latin >= others else []


def together(text: str, sentences: list[Measure]) -> Measure:
    """The counts of a whole text from those of its sentences, of which there is at least one."""
    return Measure(
        (0, len(text)),
        len(sentences),
        sum(sentence.words for sentence in sentences),
        sum(sentence.syllables for sentence in sentences),
    )


def _prose_only(text: str) -> str:
    """The text with spaces in place of everything that is not prose: offsets stay."""
    verbatim = [*code_spans(text), *urls(text)]
    return _NOT_PROSE.sub(lambda line: " " * len(line.group()), blanked(text, verbatim))
