"""Checking a text against rules."""

from collections.abc import Iterable, Mapping

from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.input import check_text
from sifaka.validators import Validator, parse_validators
from sifaka.validators.execution import run_validators
from sifaka.validators.preserve import PreserveValidator


class ValidationReport(Frozen):
    """The verdict of every validator on one text."""

    results: tuple[ValidationResult, ...]
    """In the order of the validators."""

    @property
    def passed(self) -> bool:
        """True when the text passes every required validator."""
        return all(result.passed for result in self.results if result.required)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues of the validators that the text does not pass, advisory ones included."""
        return tuple(i for result in self.results if not result.passed for i in result.issues)


async def validate(
    text: str,
    validators: Iterable[Validator | Mapping[str, object]],
    *,
    original: str = "",
    plugins: Plugins = NO_PLUGINS,
) -> ValidationReport:
    """Check a text against rules; no model is asked and nothing is stored.

    Args:
        text: The text.
        validators: Validators or their specs.
        original: The text that `preserve` compares with.
        plugins: The packages that offer further validators.

    Returns:
        A verdict for each validator. A validator that crashed has failed.

    Raises:
        ConfigurationError: A spec is wrong, there is none, a text cannot be used, or `preserve` is
            given no original.
        PluginError: A validator of another package is not allowed, or cannot be used.
    """
    check_text(text)
    parsed = parse_validators(validators, plugins=plugins)
    if not parsed:
        raise ConfigurationError("there are no validators", 'give some: [{"type": "length", ...}]')
    if not original and any(isinstance(each, PreserveValidator) for each in parsed):
        raise ConfigurationError(
            "`preserve` compares with an original, and there is none", "give `original`"
        )
    original = check_text(original, "original") or text
    results = await run_validators(parsed, Thought(text=text), original)
    return ValidationReport(results=tuple(results.values()))
