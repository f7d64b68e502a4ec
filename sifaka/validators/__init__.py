"""The catalogue of validators. Each class is its own spec: a frozen model told apart by `type`."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from sifaka._internal.explain import explain
from sifaka.errors import ConfigurationError
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.validators.classifier import ClassifierValidator
from sifaka.validators.composition import all_of, any_of, negate
from sifaka.validators.content import ContentValidator
from sifaka.validators.evidence import EvidenceValidator
from sifaka.validators.format import FormatValidator
from sifaka.validators.guardrails import GuardrailsValidator
from sifaka.validators.language import LanguageValidator
from sifaka.validators.length import LengthValidator
from sifaka.validators.plugin import PluggedValidator
from sifaka.validators.preserve import PreserveValidator
from sifaka.validators.protocol import Validator
from sifaka.validators.readability import ReadabilityValidator
from sifaka.validators.regex import RegexValidator
from sifaka.validators.report import ReportValidator
from sifaka.validators.spec import WithoutMapping

__all__ = [
    "UNLISTED",
    "VALIDATORS",
    "ClassifierValidator",
    "ContentValidator",
    "EvidenceValidator",
    "FormatValidator",
    "GuardrailsValidator",
    "LanguageValidator",
    "LengthValidator",
    "PluggedValidator",
    "PreserveValidator",
    "ReadabilityValidator",
    "RegexValidator",
    "ReportValidator",
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
        "evidence": EvidenceValidator,
        "report": ReportValidator,
    }
)
"""The built-in validators by the `type` of their spec."""

UNLISTED = frozenset({"evidence", "report"})
"""Those that the published schema leaves out: they belong to other toolsets than the default."""

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


def parse_validators(
    specs: Iterable[Mapping[str, object] | Validator], *, plugins: Plugins = NO_PLUGINS
) -> tuple[Validator, ...]:
    """The validators that specs describe, in their order; a validator stays as it is.

    Args:
        specs: The validators.
        plugins: Where those come from that are not built in.

    Raises:
        ConfigurationError: A spec is wrong. One line says what, where (`validators[1].max_words`)
            and what is allowed.
        PluginError: A validator of another package is not allowed, or cannot be used.
    """
    given = tuple(specs)
    if len(given) > COUNT_LIMIT:
        raise ConfigurationError(f"validators: should be at most {COUNT_LIMIT}, not {len(given)}")
    return tuple(_parsed(at, spec, plugins) for at, spec in enumerate(given))


@cache
def _adapter() -> TypeAdapter[Validator]:
    return TypeAdapter(ValidatorSpec)


def _parsed(at: int, spec: Mapping[str, object] | Validator, plugins: Plugins) -> Validator:
    if not isinstance(spec, Mapping) and callable(getattr(spec, "validate", None)):
        return spec
    place = f"validators[{at}]"
    kind = spec.get("type") if isinstance(spec, Mapping) else None
    if isinstance(kind, str) and isinstance(spec, Mapping):
        if kind in VALIDATORS:
            plugins.tell_if_shadowed("validators", kind)
            if kind in UNLISTED:
                return _unlisted(VALIDATORS[kind], spec, place)
        elif made := plugins.make("validators", spec, place):
            return PluggedValidator(*made)
    try:
        return _adapter().validate_python(spec)
    except ValidationError as error:
        line = explain(error, place, tags=VALIDATORS)
        offered = plugins.offered("validators", VALIDATORS)
        more = f"{', '.join(offered)} of plugins" if offered else None
        raise ConfigurationError(line, more and f"and {more}") from None


def _unlisted(kind: type[Validator], spec: Mapping[str, object], place: str) -> Validator:
    try:
        return TypeAdapter(kind).validate_python(spec)
    except ValidationError as error:
        raise ConfigurationError(explain(error, place)) from None
