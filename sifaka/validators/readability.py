"""The school grade that reads a text with ease."""

from typing import Annotated, Literal

from pydantic import Field

from sifaka.classifiers.english import (
    SentenceCounts,
    measured,
    syllables,
    together,
    unread,
)
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.words import words
from sifaka.validators.spec import LimitedSpec, Name

SENTENCES_SHOWN = 5
"""The most of the hardest sentences that are reported."""


class ReadabilityValidator(LimitedSpec):
    """Measures the Flesch-Kincaid grade: the US school year that reads the text with ease.

    The formula is made for English; a text in another language is not checked. Headings, tables,
    code and URLs do not count, and each item of a list is a sentence of its own.

    Kincaid, Fishburne, Rogers and Chissom, "Derivation of New Readability Formulas for Navy
    Enlisted Personnel", 1975.
    """

    type: Literal["readability"] = "readability"
    name: Name = "readability"
    max_grade: Annotated[float, Field(ge=0, le=50, allow_inf_nan=False)]

    def check(self, thought: Thought) -> ValidationResult:
        """Measure, and point at the hardest sentences."""
        text = thought.text
        if (other := unread(text, "the formula is for English")) is not None:
            return ValidationResult.not_checked(other.coverage)
        sentences = measured(text)
        if not sentences:
            return ValidationResult.not_checked("no English prose to measure")
        total = together(text, sentences)
        grade = total.grade
        message = (
            f"grade {grade:g}, at most {self.max_grade:g} "
            f"({total.words / total.sentences:.0f} words a sentence, "
            f"{total.syllables / total.words:.2f} syllables a word)"
        )
        if grade <= self.max_grade:
            return ValidationResult(passed=True, message=message)
        hardest = sorted(sentences, key=lambda sentence: -sentence.grade)[:SENTENCES_SHOWN]
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


def _advice(text: str, total: SentenceCounts, hard: list[SentenceCounts]) -> tuple[str, ...]:
    advice: list[str] = []
    longest = max((sentence.words for sentence in hard), default=0)
    if longest > 20:
        advice.append(f"split the sentences of up to {longest} words")
    texts = (text[slice(*sentence.span)] for sentence in hard)
    tokens = {sentence[slice(*span)] for sentence in texts for span in words(sentence)}
    long_words = [word for word in tokens if syllables(word) >= 4]
    if long_words:
        longest_first = sorted(long_words, key=lambda word: (-syllables(word), word))[:5]
        advice.append(f"use shorter words for {', '.join(map(repr, longest_first))}")
    is_long = total.words / total.sentences > 15
    usual = "write shorter sentences" if is_long else "use words of fewer syllables"
    return tuple(advice) or (usual,)
