"""The length of a text, in words and in characters."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.words import count, count_characters, nth_character, nth_word
from sifaka.validators.spec import Name, OptionalSpec

Bound = Annotated[int | None, Field(ge=0)]


class LengthValidator(OptionalSpec):
    """Holds words and characters within bounds, both ends included.

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
    def _can_be_met(self) -> "LengthValidator":
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
        checks: list[_Check] = []
        if self.min_words is not None or self.max_words is not None:
            length, limit = count(text), self.max_words
            found = nth_word(text, limit) if limit is not None and length.total > limit else None
            over = found[0] if found else None
            checks.append(_Check("words", length.unit, length.total, self.min_words, limit, over))
        if self.min_chars is not None or self.max_chars is not None:
            shown, limit = count_characters(text), self.max_chars
            over = None if limit is None or shown <= limit else nth_character(text, limit)
            checks.append(_Check("chars", "characters", shown, self.min_chars, limit, over))
        failed = [check for check in checks if check.missing or check.surplus]
        return ValidationResult(
            passed=not failed,
            message="; ".join(check.figures for check in checks),
            score=min(check.nearness for check in checks),
            issues=tuple(check.issue(text) for check in failed),
            suggestions=tuple(check.suggestion for check in failed),
        )


def max_words(count: int) -> LengthValidator:
    """A validator for texts of at most so many words."""
    return LengthValidator(max_words=count)


def min_words(count: int) -> LengthValidator:
    """A validator for texts of at least so many words."""
    return LengthValidator(min_words=count)


class _Check:
    """One unit counted against its bounds."""

    def __init__(
        self,
        kind: str,
        unit: str,
        count: int,
        low: int | None,
        high: int | None,
        over: int | None,
    ) -> None:
        self.kind, self.unit, self.count = kind, unit, count
        self.low, self.high, self.over = low, high, over
        self.missing = max(0, (low or 0) - count)
        self.surplus = 0 if high is None else max(0, count - high)

    @property
    def figures(self) -> str:
        bounds = {
            (True, True): f"between {self.low} and {self.high}",
            (True, False): f"at least {self.low}",
            (False, True): f"at most {self.high}",
        }[self.low is not None, self.high is not None]
        return f"{_counted(self.count, self.unit)}, {bounds}"

    @property
    def nearness(self) -> float:
        if self.surplus:
            return ((self.high or 0) + 1) / (self.count + 1)
        return self.count / (self.count + self.missing) if self.missing else 1.0

    @property
    def suggestion(self) -> str:
        verb, amount = ("cut", self.surplus) if self.surplus else ("add", self.missing)
        return f"{verb} {_counted(amount, self.unit)} or more"

    def issue(self, text: str) -> Issue:
        if self.over is None:
            message = f"{_counted(self.missing, self.unit)} too few"
            return Issue(message=message, category="length", rule=f"min_{self.kind}")
        message = f"{_counted(self.surplus, self.unit)} too many from here on"
        return Issue.at(
            text, self.over, len(text), message, category="length", rule=f"max_{self.kind}"
        )


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit[:-1] if count == 1 and ' ' not in unit else unit}"
