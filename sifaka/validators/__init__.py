"""The catalogue of validators. Each class is its own spec: a frozen model told apart by `type`."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from sifaka.errors import ConfigurationError
from sifaka.explain import explain
from sifaka.validators.classifier import ClassifierValidator
from sifaka.validators.composition import all_of, any_of, negate
from sifaka.validators.content import ContentValidator
from sifaka.validators.format import FormatValidator
from sifaka.validators.guardrails import GuardrailsValidator
from sifaka.validators.language import LanguageValidator
from sifaka.validators.length import LengthValidator
from sifaka.validators.preserve import PreserveValidator
from sifaka.validators.protocol import Validator
from sifaka.validators.readability import ReadabilityValidator
from sifaka.validators.regex import RegexValidator
from sifaka.validators.spec import WithoutMapping

__all__ = [
    "VALIDATORS",
    "ClassifierValidator",
    "ContentValidator",
    "FormatValidator",
    "GuardrailsValidator",
    "LanguageValidator",
    "LengthValidator",
    "PreserveValidator",
    "ReadabilityValidator",
    "RegexValidator",
    "Validator",
    "ValidatorSpec",
    "all_of",
    "any_of",
    "negate",
    "parse_validators",
]

VALIDATORS: Mapping[str, type[Validator]] = MappingProxyType(
    {
        "length": LengthValidator,
        "regex": RegexValidator,
        "content": ContentValidator,
        "format": FormatValidator,
        "readability": ReadabilityValidator,
        "preserve": PreserveValidator,
        "language": LanguageValidator,
        "classifier": ClassifierValidator,
        "guardrails": GuardrailsValidator,
    }
)
"""The built-in validators by the `type` of their spec."""

ValidatorSpec = Annotated[
    LengthValidator
    | RegexValidator
    | ContentValidator
    | FormatValidator
    | ReadabilityValidator
    | PreserveValidator
    | LanguageValidator
    | ClassifierValidator
    | GuardrailsValidator,
    Field(discriminator="type"),
    WithoutMapping(),
]
"""One validator as an agent, a command line or a configuration file gives it."""

COUNT_LIMIT = 50
"""The most validators of one list."""


def parse_validators(specs: Iterable[Mapping[str, object] | Validator]) -> tuple[Validator, ...]:
    """The validators that specs describe, in their order; a validator stays as it is.

    Raises:
        ConfigurationError: A spec is wrong. One line says what, where (`validators[1].max_words`)
            and what is allowed.
    """
    given = tuple(specs)
    if len(given) > COUNT_LIMIT:
        raise ConfigurationError(f"validators: should be at most {COUNT_LIMIT}, not {len(given)}")
    return tuple(_parsed(at, spec) for at, spec in enumerate(given))


@cache
def _adapter() -> TypeAdapter[Validator]:
    return TypeAdapter(ValidatorSpec)


def _parsed(at: int, spec: Mapping[str, object] | Validator) -> Validator:
    if not isinstance(spec, Mapping) and callable(getattr(spec, "validate", None)):
        return spec
    try:
        return _adapter().validate_python(spec)
    except ValidationError as error:
        line = explain(error, f"validators[{at}]", tags=VALIDATORS)
        raise ConfigurationError(line) from None
