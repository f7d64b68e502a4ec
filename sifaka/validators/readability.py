"""Is the text easy enough to read?"""

import re
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from sifaka.prose import Span, urls, words
from sifaka.results import Issue, ValidationResult
from sifaka.thought import Thought
from sifaka.validators.pieces import code_spans, sentence_spans
from sifaka.validators.spec import Name, OptionalSpec
from sifaka.validators.syllables import syllables
from sifaka.validators.verbatim import blanked

SENTENCES_SHOWN = 5
"""How many of the hardest sentences are reported."""
_NOT_PROSE = re.compile(r"^[ \t]*(?:#{1,6}[ \t].*|\|.*|(?:[-=*_][ \t]*){3,})$", re.MULTILINE)
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’-][A-Za-z\u00c0-\u024f]+)*")
_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f]")


class ReadabilityValidator(OptionalSpec):
    """Measures the Flesch-Kincaid grade: the US school year that reads the text with ease.

    The formula is made for English; a text in another script passes unmeasured. Headings, tables,
    code and URLs do not count, and each item of a list is a sentence of its own.

    Kincaid, Fishburne, Rogers and Chissom, "Derivation of New Readability Formulas for Navy
    Enlisted Personnel", 1975.
    """

    type: Literal["readability"] = "readability"
    name: Name = "readability"
    max_grade: Annotated[float, Field(ge=0, le=50, allow_inf_nan=False)]

    def validate(self, thought: Thought) -> ValidationResult:
        """Measure, and point at the hardest sentences."""
        text = thought.text
        measured = _measured(text)
        if not measured:
            return ValidationResult(passed=True, message="no English prose to measure")
        total = _Measure(
            (0, len(text)),
            len(measured),
            sum(sentence.words for sentence in measured),
            sum(sentence.syllables for sentence in measured),
        )
        grade = total.grade
        message = (
            f"grade {grade:g}, at most {self.max_grade:g} "
            f"({total.words / total.sentences:.0f} words a sentence, "
            f"{total.syllables / total.words:.2f} syllables a word)"
        )
        if grade <= self.max_grade:
            return ValidationResult(passed=True, message=message)
        hardest = sorted(measured, key=lambda sentence: -sentence.grade)[:SENTENCES_SHOWN]
        hard = [sentence for sentence in hardest if sentence.grade > self.max_grade]
        return ValidationResult(
            passed=False,
            message=message,
            score=1 / (1 + (grade - self.max_grade) / 5),
            issues=tuple(
                Issue.at(
                    text,
                    *sentence.span,
                    f"hard to read: {sentence.words} words, grade {sentence.grade:g}",
                    category="readability",
                    rule="max_grade",
                )
                for sentence in sorted(hard, key=lambda sentence: sentence.span)
            ),
            suggestions=_advice(text, total, hard),
        )


class _Measure(NamedTuple):
    """The counts of one sentence, or of several together."""

    span: Span
    sentences: int
    words: int
    syllables: int

    @property
    def grade(self) -> float:
        # Rounded, so that a text never fails for a difference that its message does not show.
        return round(
            0.39 * self.words / self.sentences + 11.8 * self.syllables / self.words - 15.59, 1
        )


def _measured(text: str) -> list[_Measure]:
    """The sentences with at least one word; nothing when the text is mostly in another script."""
    prose = _prose_only(text)
    latin = 0
    measured: list[_Measure] = []
    for start, end in sentence_spans(prose):
        found: list[str] = _LATIN_WORD.findall(prose, start, end)
        if found:
            latin += sum(map(len, found))
            measured.append(_Measure((start, end), 1, len(found), sum(map(syllables, found))))
    others = 0 if prose.isascii() else len(_OTHER_LETTER.findall(prose))
    return measured if latin >= others else []


def _prose_only(text: str) -> str:
    """The text with spaces in place of everything that is not prose: offsets stay."""
    verbatim = [*code_spans(text), *urls(text)]
    return _NOT_PROSE.sub(lambda line: " " * len(line.group()), blanked(text, verbatim))


def _advice(text: str, total: _Measure, hard: list[_Measure]) -> tuple[str, ...]:
    advice: list[str] = []
    if hard:
        longest = max(sentence.words for sentence in hard)
        if longest > 20:
            advice.append(f"split the sentences of up to {longest} words")
        long_words = {
            word: syllables(word)
            for sentence in hard
            for start, end in words(text[sentence.span[0] : sentence.span[1]])
            if syllables(word := text[sentence.span[0] + start : sentence.span[0] + end]) >= 4
        }
        if long_words:
            shown = sorted(long_words, key=lambda word: (-long_words[word], word))[:5]
            advice.append(f"use shorter words for {', '.join(map(repr, shown))}")
    if not advice:
        advice.append(
            "write shorter sentences"
            if total.words / total.sentences > 15
            else "use words of fewer syllables"
        )
    return tuple(advice)
