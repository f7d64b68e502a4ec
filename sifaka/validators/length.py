"""The length of a text, in words and in characters."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.words import count, count_characters, nth_character, nth_word
from sifaka.validators.spec import Name, OptionalSpec

Bound = Annotated[int | None, Field(ge=0)]


class LengthValidator(OptionalSpec):
    """Checks that words and characters are within bounds, both ends included.

    Words are those of `sifaka.text.words`: each Chinese or Japanese character counts as one, and
    the message says which were counted. Characters are those that a reader sees (grapheme
    clusters), white space and markup included.
    """

    type: Literal["length"] = "length"
    name: Name = "length"
    min_words: Bound = None
    max_words: Bound = None
    min_chars: Bound = None
    max_chars: Bound = None

    @property
    def bounds(self) -> dict[str, int]:
        """Those that are given, by name."""
        names = ("min_words", "max_words", "min_chars", "max_chars")
        return {name: bound for name in names if (bound := getattr(self, name)) is not None}

    @model_validator(mode="after")
    def _check_bounds(self) -> "LengthValidator":
        if not self.bounds:
            raise ValueError("give at least one of min_words, max_words, min_chars, max_chars")
        for low, high, unit in (
            (self.min_words, self.max_words, "words"),
            (self.min_chars, self.max_chars, "chars"),
        ):
            if low is not None and high is not None and low > high:
                raise ValueError(f"min_{unit} ({low}) is more than max_{unit} ({high})")
        # A word may be one character, and in some languages no space is between two.
        if self.min_words and self.max_chars is not None and self.max_chars < self.min_words:
            raise ValueError(
                f"min_words ({self.min_words}) takes at least {self.min_words} characters, "
                f"more than max_chars ({self.max_chars})"
            )
        return self

    def validate(self, thought: Thought) -> ValidationResult:
        """Count, and point at what is over the limit."""
        text = thought.text
        results: list[ValidationResult] = []
        if self.min_words is not None or self.max_words is not None:
            length, most = count(text), self.max_words
            word = nth_word(text, most) if most is not None and length.total > most else None
            over = word[0] if word else None
            results.append(_check(text, "words", length.total, length.unit, self.bounds, over))
        if self.min_chars is not None or self.max_chars is not None:
            total, most = count_characters(text), self.max_chars
            over = None if most is None or total <= most else nth_character(text, most)
            results.append(_check(text, "chars", total, "characters", self.bounds, over))
        return ValidationResult(
            passed=all(each.passed for each in results),
            message="; ".join(each.message for each in results),
            score=min(each.score for each in results),
            issues=tuple(issue for each in results for issue in each.issues),
            suggestions=tuple(advice for each in results for advice in each.suggestions),
        )


def max_words(count: int) -> LengthValidator:
    """A validator for texts of at most so many words."""
    return LengthValidator(max_words=count)


def min_words(count: int) -> LengthValidator:
    """A validator for texts of at least so many words."""
    return LengthValidator(min_words=count)


def _check(
    text: str, kind: str, total: int, unit: str, bounds: Mapping[str, int], over: int | None
) -> ValidationResult:
    """The result for one kind of units; `over` is the offset from which there are too many."""
    low, high = bounds.get(f"min_{kind}"), bounds.get(f"max_{kind}")
    wanted = {
        (True, True): f"between {low} and {high}",
        (True, False): f"at least {low}",
        (False, True): f"at most {high}",
    }[low is not None, high is not None]
    message = f"{_format_count(total, unit)}, {wanted}"
    if over is not None and high is not None:
        surplus = _format_count(total - high, unit)
        score, advice = (high + 1) / (total + 1), f"cut {surplus} or more"
        reason = f"{surplus} too many from here on"
        issue = Issue.at(text, over, len(text), reason, category="length", rule=f"max_{kind}")
    elif low is not None and total < low:
        missing = _format_count(low - total, unit)
        score, advice = total / low, f"add {missing} or more"
        issue = Issue(message=f"{missing} too few", category="length", rule=f"min_{kind}")
    else:
        return ValidationResult(passed=True, message=message)
    return ValidationResult(
        passed=False, message=message, score=score, issues=(issue,), suggestions=(advice,)
    )


def _format_count(count: int, unit: str) -> str:
    return f"{count} {unit[:-1] if count == 1 and ' ' not in unit else unit}"
