"""Estimates the years of schooling that a text asks of its readers."""

from dataclasses import dataclass

from sifaka.classifiers.english import measured, other_language, reads_as, together
from sifaka.classifiers.protocol import UNKNOWN, Classification
from sifaka.record.results import Issue

LEVELS = ((6.0, "elementary"), (9.0, "middle school"), (13.0, "high school"))
"""Each level and the grade it ends before; what is harder is `college`."""
SENTENCES_SHOWN = 5
_ENOUGH_WORDS = 100
"""From this many words on, the length of the sample leaves the grade in no doubt."""


@dataclass(frozen=True)
class ReadabilityClassifier:
    """Labels English prose by its Flesch-Kincaid grade (`sifaka.classifiers.english`)."""

    name: str = "readability"

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels from easy to hard, and `unknown`."""
        return (*(level for _, level in LEVELS), "college", UNKNOWN)

    def classify(self, text: str) -> Classification:
        """The level, with the hardest sentences as evidence.

        The confidence is that of the measurement: it grows with the number of words.
        """
        language = other_language(text)
        if language:
            coverage = reads_as(language, "Flesch-Kincaid grade, for English")
            return Classification(label=UNKNOWN, confidence=0, coverage=coverage)
        found = measured(text)
        if not found:
            return Classification(
                label=UNKNOWN, confidence=0, coverage="no English prose to measure"
            )
        total = together(text, found)
        grade = total.grade
        label = next((level for end, level in LEVELS if grade < end), "college")
        confidence = round(min(0.9, 0.3 + 0.6 * total.words / _ENOUGH_WORDS), 2)
        hardest = sorted(found, key=lambda sentence: -sentence.grade)[:SENTENCES_SHOWN]
        return Classification(
            label=label,
            confidence=confidence,
            scores={label: confidence},
            coverage=f"Flesch-Kincaid grade {grade:g} of {total.words} words, for English",
            evidence=tuple(
                Issue.at(
                    text,
                    *sentence.span,
                    f"grade {sentence.grade:g}, {sentence.words} words",
                    category="readability",
                    severity=2,
                    rule="flesch_kincaid",
                )
                for sentence in sorted(hardest)
            ),
        )
