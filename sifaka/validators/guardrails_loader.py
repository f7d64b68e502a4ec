"""Loading validators of Guardrails AI, with nothing of them leaving the machine."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from inspect import isclass
from typing import Any, NamedTuple, cast

from sifaka.errors import ConfigurationError, ValidationError
from sifaka.extras import install


class Rejection(NamedTuple):
    """The complaint of a validator of Guardrails about a text."""

    name: str
    message: str
    fix: str | None
    """The whole text as the validator would have it."""
    spans: tuple[tuple[int, int, str], ...]
    """Start, end and reason of the places it points at."""


def module_of(name: str) -> str:
    """The module of a validator: `guardrails-ai-regex-match` brings `guardrails_ai.regex_match`."""
    return f"guardrails_ai.{name.replace('-', '_')}"


def run(name: str, args: Mapping[str, object], text: str) -> Rejection | None:
    """The complaint of the validator; None when the text passes.

    Raises:
        ConfigurationError: Its package is missing or has no validator, or the arguments are wrong.
    """
    validator, lock = _loaded(name, json.dumps(dict(args), sort_keys=True, default=list))
    # Nothing is promised about threads, and validators keep things on themselves.
    with lock:
        outcome: Any = validator.validate(text, {})
    if outcome is None or not hasattr(outcome, "outcome"):
        raise ValidationError(f"the Guardrails validator {name!r} gave no result")
    if str(getattr(outcome.outcome, "value", outcome.outcome)) == "pass":
        return None
    fix: object = getattr(outcome, "fix_value", None)
    spans: Any = getattr(outcome, "error_spans", None) or ()
    return Rejection(
        name,
        str(getattr(outcome, "error_message", "")) or f"{name} failed",
        fix if isinstance(fix, str) else None,
        tuple((int(span.start), int(span.end), str(span.reason)) for span in spans),
    )


@lru_cache(maxsize=32)
def _loaded(name: str, args: str) -> tuple[Any, threading.Lock]:
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
        cast("type[Any]", found)
        for found in vars(module).values()
        if isclass(found) and issubclass(found, validator) and found is not validator
    ]
    wanted = name.replace("-", "")
    named = [found for found in classes if found.__name__.lower() == wanted]
    if len(named or classes) != 1:
        raise ConfigurationError(f"{module_of(name)} has {len(classes)} validators, not one")
    return (named or classes)[0]
