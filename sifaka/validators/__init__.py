"""The catalogue of validators. Each class is its own spec: a frozen model told apart by `type`."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Union, cast

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.config import JsonDict

from sifaka._internal.explain import explain
from sifaka._internal.naming import closest
from sifaka.errors import ConfigurationError
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.validators.classifier import ClassifierValidator, LanguageValidator
from sifaka.validators.content import ContentValidator
from sifaka.validators.evidence import EvidenceValidator
from sifaka.validators.execution import (
    ForeignValidator,
    FunctionValidator,
    Validator,
    ValidatorComponent,
    ValidatorFunction,
    as_validator,
)
from sifaka.validators.format import FormatValidator
from sifaka.validators.guardrails import GuardrailsValidator
from sifaka.validators.length import LengthValidator, max_words, min_words
from sifaka.validators.preserve import PreserveValidator
from sifaka.validators.readability import ReadabilityValidator
from sifaka.validators.regex import RegexValidator
from sifaka.validators.report import ReportValidator
from sifaka.validators.spec import Spec

__all__ = [
    "UNLISTED",
    "VALIDATORS",
    "ClassifierValidator",
    "ContentValidator",
    "EvidenceValidator",
    "ForeignValidator",
    "FormatValidator",
    "FunctionValidator",
    "GuardrailsValidator",
    "LanguageValidator",
    "LengthValidator",
    "PreserveValidator",
    "ReadabilityValidator",
    "RegexValidator",
    "ReportValidator",
    "Validator",
    "ValidatorComponent",
    "ValidatorFunction",
    "ValidatorLike",
    "ValidatorSpec",
    "adapter_of",
    "as_validator",
    "max_words",
    "min_words",
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


def _drop_mapping(schema: JsonDict) -> None:
    del schema["discriminator"]  # each branch states its `type`


ValidatorSpec: Any = Annotated[
    cast("Any", Union)[tuple(VALIDATORS[name] for name in VALIDATORS if name not in UNLISTED)],
    Field(discriminator="type", json_schema_extra=_drop_mapping),
]
"""One validator as an agent, a command line or a configuration file gives it."""

ValidatorLike = Mapping[str, object] | Validator | ValidatorFunction
"""A validator, its `{"type": ..., options}`, or a function that checks a text."""

COUNT_LIMIT = 50
"""The most validators of one list."""


def parse_validators(
    specs: Iterable[ValidatorLike], *, plugins: Plugins = NO_PLUGINS
) -> tuple[ValidatorComponent, ...]:
    """The validators that specs describe, in their order; a validator stays as it is.

    Args:
        specs: The validators.
        plugins: The packages that offer further validators.

    Raises:
        ConfigurationError: A spec is wrong, or two required ones exclude each other. One line says
            what, where (`validators[1].max_words`) and what is allowed.
        PluginError: A validator of another package is not allowed, or cannot be used.
    """
    items = tuple(specs)
    if len(items) > COUNT_LIMIT:
        raise ConfigurationError(f"validators: should be at most {COUNT_LIMIT}, not {len(items)}")
    parsed = tuple(_parse_spec(f"validators[{at}]", spec, plugins) for at, spec in enumerate(items))
    try:
        _check_together([each for each in parsed if isinstance(each, Spec) and each.required])
    except ValueError as error:
        message = explain(error, "") if isinstance(error, ValidationError) else str(error)
        raise ConfigurationError(
            f"validators: they exclude each other: {message}",
            'drop or change one, or make one advice with `"required": false`',
        ) from None
    return parsed


def _check_together(rules: Sequence[Spec]) -> None:
    """Pass rules that one text can meet; what is uncertain is passed.

    Raises:
        ValueError: No text can.
    """
    bounds: dict[str, int] = {}
    for rule in rules:
        for name, bound in rule.bounds.items() if isinstance(rule, LengthValidator) else ():
            tighter = max if name.startswith("min") else min
            bounds[name] = tighter(bound, bounds.get(name, bound))
    if bounds:
        LengthValidator.model_validate(bounds)
    contents = [rule for rule in rules if isinstance(rule, ContentValidator)]
    for rule in contents:
        rule.check_allows([term for each in contents for term in each.required_terms])
    patterns = [rule for rule in rules if isinstance(rule, RegexValidator)]
    wanted = {pattern for rule in patterns for pattern in rule.must_match}
    if both := wanted & {pattern for rule in patterns for pattern in rule.must_not_match}:
        raise ValueError(f"the pattern {min(both)!r} must match and must not")
    languages = {rule.expected for rule in rules if isinstance(rule, LanguageValidator)}
    if len(languages) > 1:
        raise ValueError(f"a text is in one language, not in {' and '.join(sorted(languages))}")


_DATA = (Mapping, str, int, float, list, tuple, type(None))
"""Types of data, which may be a spec but is no component."""


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """The adapter of a validator's class or of `ValidatorSpec`; each takes long to build."""
    return TypeAdapter(kind)


def _parse_spec(path: str, spec: ValidatorLike, plugins: Plugins) -> ValidatorComponent:
    if not isinstance(spec, _DATA):
        try:
            return as_validator(spec)
        except ConfigurationError as error:
            raise ConfigurationError(f"{path}: {error.message}", error.suggestion) from None
    data = cast("Mapping[str, object]", spec if isinstance(spec, Mapping) else {})
    kind, hints = data.get("type"), list[str]()
    is_foreign = isinstance(kind, str) and kind not in VALIDATORS
    if is_foreign and (made := plugins.make("validators", data, path)):
        return ForeignValidator(*made)
    expected = VALIDATORS[str(kind)] if kind in UNLISTED else ValidatorSpec
    try:
        return adapter_of(expected).validate_python(spec)
    except ValidationError as error:
        if is_foreign and (offered := plugins.offered("validators", VALIDATORS)):
            # Those that are built in are in the message itself.
            similar = closest(str(kind), offered)
            hints += [f"did you mean {similar!r}?"] if similar else []
            hints.append(f"plugins offer {', '.join(offered)}")
        tags = VALIDATORS if expected is ValidatorSpec else ()
        raise ConfigurationError(explain(error, path, tags=tags), " ".join(hints) or None) from None
