"""Validators of Guardrails AI, by their names, with nothing of them leaving the machine."""

import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from inspect import isclass
from typing import Annotated, Any, Literal, cast

from anyio import to_thread
from pydantic import AfterValidator, Field, WithJsonSchema, field_validator, model_validator

from sifaka._internal.immutable import FrozenJson
from sifaka.errors import ConfigurationError, ValidationError
from sifaka.extras import install
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.spec import ISSUE_LIMIT, Name, OptionalSpec, Published


def module_of(name: str) -> str:
    """The module of a validator: `guardrails-ai-regex-match` brings `guardrails_ai.regex_match`."""
    return f"guardrails_ai.{name.replace('-', '_')}"


def run(name: str, args: Mapping[str, object], text: str) -> ValidationResult:
    """The result of one validator.

    Raises:
        ConfigurationError: Its package is missing or has no validator, or the arguments are wrong.
    """
    validator, lock = _load_validator(name, json.dumps(dict(args), sort_keys=True, default=list))
    # Nothing is promised about threads, and validators keep things on themselves.
    with lock:
        outcome: Any = validator.validate(text, {})
    if outcome is None or not hasattr(outcome, "outcome"):
        raise ValidationError(f"the Guardrails validator {name!r} gave no result")
    if str(getattr(outcome.outcome, "value", outcome.outcome)) == "pass":
        return ValidationResult(passed=True)
    message = str(getattr(outcome, "error_message", "")) or f"{name} failed"
    about: dict[str, Any] = {"category": "guardrails", "rule": name}
    issues = [
        Issue.at(text, int(span.start), int(span.end), str(span.reason) or message, **about)
        for span in getattr(outcome, "error_spans", None) or ()
        if 0 <= int(span.start) < int(span.end) <= len(text)
    ]
    fix: object = getattr(outcome, "fix_value", None)
    # A fix is one for the whole text: it cannot be told apart by spans, and may be nonsense.
    if isinstance(fix, str) and fix != text:
        issues.insert(0, Issue.at(text, 0, len(text), message, **about, fix=fix))
    return ValidationResult(
        passed=False,
        message=message,
        validator=name,
        issues=tuple(issues) or (Issue(message=message, **about),),
    )


@lru_cache(maxsize=32)
def _load_validator(name: str, args: str) -> tuple[Any, threading.Lock]:
    """The validator, constructed once, as some load a model then; and what guards it."""
    silence()
    try:
        module = import_module(module_of(name))
    except ImportError as error:
        raise ConfigurationError(
            f"the Guardrails validator {name!r} cannot be imported: {error}",
            install("guardrails", beside=f"guardrails-ai-{name}"),
        ) from error
    try:
        return _class_in(module, name)(**json.loads(args), on_fail="noop"), threading.Lock()
    except (TypeError, ValueError, AssertionError) as error:
        raise ConfigurationError(
            f"the Guardrails validator {name!r} refuses its args: {error}"
        ) from error


@lru_cache(maxsize=1)
def silence() -> None:
    """Import Guardrails with its telemetry off, also against the file `.guardrailsrc`.

    Its one switch is `enable_metrics`, on by default and read from that file at import, when
    nothing is sent yet. It is set in memory: no file is written. Its tracer takes the setting over
    when it is made, or here, when other code has made it before. Inference at the service of
    Guardrails is off as well.
    """
    settings = import_module("guardrails.settings").settings
    telemetry = import_module("guardrails.utils.hub_telemetry_utils").HubTelemetry
    settings.rc = replace(settings.rc, enable_metrics=False, use_remote_inferencing=False)
    telemetry(enabled=False).initialize_tracer("sifaka", "sifaka", True, enabled=False)


def _class_in(module: object, name: str) -> type[Any]:
    """The validator's class: the one that is called like the package, else the only one."""
    validator: type[Any] = import_module("guardrails.validator_base").Validator
    classes = [
        cast("type[Any]", each)
        for each in vars(module).values()
        if isclass(each) and issubclass(each, validator) and each is not validator
    ]
    wanted = name.replace("-", "")
    named = [each for each in classes if each.__name__.lower() == wanted]
    if len(named or classes) != 1:
        raise ConfigurationError(f"{module_of(name)} has {len(classes)} validators, not one")
    return (named or classes)[0]


# --- the validator ---

COUNT_LIMIT = 20
"""The most validators of one list."""
_PREFIX = re.compile(r"^(?:hub://)?(?:guardrails/|guardrails-ai-)")
_NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_REFUSED = {
    "on_fail": "what follows a failure is decided here",
    "use_local": "texts are not sent anywhere",
    "validation_endpoint": "texts are not sent anywhere",
}


def _check_name(name: str) -> str:
    short = _PREFIX.sub("", name.strip()).replace("_", "-")
    if not _NAME.fullmatch(short) or len(short) > 60:
        raise ValueError(
            f"{name[:40]!r} is no name of a Guardrails validator, such as 'regex-match'"
        )
    return short


class GuardrailsPart(Published):
    """One validator and what it is constructed with."""

    name: Annotated[str, AfterValidator(_check_name)]
    args: FrozenJson = Field(default_factory=dict[str, object])

    @field_validator("args")
    @classmethod
    def _check_args(cls, args: Mapping[str, object]) -> Mapping[str, object]:
        for name in _REFUSED.keys() & args:
            raise ValueError(f"{name!r} cannot be given: {_REFUSED[name]}")
        return args


class GuardrailsValidator(OptionalSpec):
    """Runs validators of Guardrails AI in a worker thread, each from its package on PyPI.

    `regex-match` is the package `guardrails-ai-regex-match`; it has to be installed, nothing is
    fetched. The telemetry of Guardrails is off, and models run here and not at its service. A
    validator may still do anything its author wrote: install those you trust.
    """

    type: Literal["guardrails"] = "guardrails"
    name: Name = "guardrails"
    validators: Annotated[
        Sequence[Annotated[str, AfterValidator(_check_name)] | GuardrailsPart],
        Field(min_length=1, max_length=COUNT_LIMIT),
        AfterValidator(tuple),
        WithJsonSchema({"type": "array", "items": {}, "description": "names or {name, args}"}),
    ]

    @model_validator(mode="after")
    def _check_installed(self) -> "GuardrailsValidator":
        missing = [part.name for part in self._parts() if not _has_module(part.name)]
        if missing:
            packages = " ".join(f"guardrails-ai-{name}" for name in missing)
            raise ValueError(
                f"the Guardrails validator {missing[0]!r} is not installed; "
                f"{install('guardrails', beside=packages)}"
            )
        return self

    async def validate(self, thought: Thought) -> ValidationResult:
        """Run every validator off the event loop."""
        return await to_thread.run_sync(self._run_all, thought.text, abandon_on_cancel=True)

    def _run_all(self, text: str) -> ValidationResult:
        results = [run(part.name, part.args, text) for part in self._parts()]
        failed = [each for each in results if not each.passed]
        count = len(results)
        return ValidationResult(
            passed=not failed,
            message="; ".join(f"{each.validator}: {each.message}" for each in failed)
            or f"{count} of {count} validators of Guardrails pass",
            score=1 - len(failed) / count,
            issues=tuple(issue for each in failed for issue in each.issues)[:ISSUE_LIMIT],
            suggestions=tuple(each.message for each in failed),
        )

    def _parts(self) -> list[GuardrailsPart]:
        return [
            part if isinstance(part, GuardrailsPart) else GuardrailsPart(name=part)
            for part in self.validators
        ]


def _has_module(name: str) -> bool:
    try:
        return find_spec("guardrails") is not None and find_spec(module_of(name)) is not None
    except ModuleNotFoundError:  # there is no package of Guardrails at all
        return False
