"""The protocol of validators."""

from collections.abc import Awaitable
from typing import Protocol

from sifaka.calls.component import Bindable
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought


class Validator(Protocol):
    """Checks one thing about a text. It never alters the text."""

    @property
    def name(self) -> str:
        """The name that its results are filed under."""
        ...

    @property
    def required(self) -> bool:
        """True when a text that fails is not done."""
        ...

    def validate(self, thought: Thought) -> ValidationResult | Awaitable[ValidationResult]:
        """Check `thought.text`.

        A validator that compares reads the original in `thought.metadata["original"]`.
        """
        ...


class ValidatorComponent(Validator, Bindable, Protocol):
    """A validator that says what it needs, as chains hold them."""
