"""A validator of another package."""

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from sifaka.plugins import Plugged
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.composition import Composable


class _Check(Protocol):
    def __call__(self, thought: Thought) -> ValidationResult | Awaitable[ValidationResult]: ...


class PluggedValidator(Plugged, Composable):
    """A validator that a package offers, told apart by the spec it was made from.

    It is required unless it says otherwise.
    """

    method = "validate"

    def __init__(self, component: Any, spec: Mapping[str, object]) -> None:
        super().__init__(component, spec)
        self.required = bool(getattr(component, "required", True))
        # The package's own method, so that it can be seen whether it awaits anything.
        self.validate: _Check = component.validate
