"""Components as data, for a run's record."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError
from sifaka.plugins import Plugged
from sifaka.record.entries import ChainConfig

_BUILT_IN = "sifaka."
_OBJECT = "object:"
"""How the recorded name of a model begins that was an object; see `model_name`."""


def describe(component: object) -> Mapping[str, object]:
    """The spec that a component can be built from again.

    For one of a plugin that is the spec it was made from. One that is nobody's of these, or that
    holds an object, is only named: `{"type": "object", ...}`.
    """
    if isinstance(component, Plugged):
        return component.spec
    model = getattr(component, "model", None)
    named = (model, *(getattr(component, "models", None) or ()))
    plain = all(each is None or isinstance(each, str) for each in named)
    held = (getattr(component, name, None) for name in ("retriever", "classifier"))
    plain = plain and all(each is None or isinstance(each, str) for each in held)
    built_in = type(component).__module__.startswith(_BUILT_IN)
    if isinstance(component, Frozen) and built_in and plain:
        spec: dict[str, object] = _spec(component)
        return spec if model is None else {**spec, "model": model}
    kind = f"{type(component).__module__}.{type(component).__qualname__}"
    return {"type": "object", "class": kind, "name": getattr(component, "name", "")}


def settings_of(config: ChainConfig) -> Mapping[str, Any]:
    """What to construct a chain with so that it has this configuration.

    Raises:
        ConfigurationError: It names a component that is code, not data; only the program that has
            that code can go on with the run.
    """
    components = (*config.validators, *config.critics, *config.retrievers)
    models = (config.model, config.judge_model or "", *config.fallback_models)
    held = any(c["type"] == "object" for c in components)
    if held or any(model.startswith(_OBJECT) for model in models):
        raise ConfigurationError(
            "the run was started with components that are not plain data",
            "resume it from the program that started it",
        )
    return {name: getattr(config, name) for name in ChainConfig.model_fields}


def _spec(component: BaseModel) -> dict[str, object]:
    kind = getattr(component, "type", None)
    return {"type": kind} | component.model_dump(mode="json", exclude_defaults=True, by_alias=True)
