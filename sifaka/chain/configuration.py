"""The configuration of a chain as data, made of the options that a program gives."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.naming import did_you_mean
from sifaka.calls.component import Component, code_spec
from sifaka.chain.lessons import MOST_REMEMBERED
from sifaka.chain.options import ChainOptions
from sifaka.chain.presets import PRESETS
from sifaka.chain.resources import Resources
from sifaka.critics import CriticComponent, LintCritic, SelfRefineCritic, StyleCritic, parse_critics
from sifaka.errors import ConfigurationError
from sifaka.models import AUTO, CALLER, Model
from sifaka.record.entries import ChainConfig, Started
from sifaka.record.thought import EDITOR
from sifaka.record.usage import Budget
from sifaka.validators import parse_validators

_WIDTH = 3
"""Versions at a time with the policy `best_of_n`."""
_NO_LIMIT = Budget()
_OBJECT = "object:"
"""The prefix of the recorded name of a model that was an object; see `model_name`."""
_NAMES = tuple(sorted(ChainOptions.__annotations__))
_RESOURCES = tuple(field.name for field in fields(Resources))
_USUAL_WHEN_NONE = frozenset(
    {"budget", "policy", "width", "look_back", "max_iterations", "own_review"}
)
"""Options that are as if they were left out when they are None; for the others it is a value."""


def model_name(model: object) -> str:
    """The name of a model in a run's recorded configuration.

    A string stands for itself. An object cannot be built again from a record, so its name is one
    that no string can be mistaken for.
    """
    if isinstance(model, str):
        return model
    name = getattr(model, "name", None) or getattr(model, "model_id", None)
    return f"{_OBJECT}{name or type(model).__name__}"


def asks_a_provider(model: object) -> bool:
    """True when this choice of a model is one that answers by itself."""
    return not isinstance(model, str) or model not in {AUTO, EDITOR, CALLER}


def parsed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a chain with their components parsed, and with lists that nobody changes.

    Raises:
        ConfigurationError: An option is unknown, or a component is wrong.
        PluginError: A component of another package is not allowed, or cannot be used.
    """
    for name in options:
        if name not in _NAMES:
            raise ConfigurationError(f"unknown option {name!r}", did_you_mean(name, _NAMES))
    new = dict(options)
    if (checkpoints := new.pop("checkpoint_storage", None)) is not None:
        new["store"] = checkpoints
    known = {} if new.get("plugins") is None else {"plugins": new["plugins"]}
    if "validators" in new:
        new["validators"] = parse_validators(new["validators"], **known)
    if new.get("critics") is not None:
        new["critics"] = parse_critics(new["critics"], **known)
    if "tags" in new:
        new["tags"] = dict.fromkeys(new["tags"])
    lists = {"retrievers", "fallback_models", "tags"} & new.keys()
    return new | {name: tuple(new[name]) for name in lists}


def resources_of(options: Mapping[str, Any]) -> Resources:
    """The resources among the options of a chain, with critics that suit its model."""
    held: dict[str, Any] = {
        name: options[name] for name in _RESOURCES if options.get(name) is not None
    }
    chosen: tuple[CriticComponent, ...] | None = held.get("critics")
    if chosen is None and asks_a_provider(held.get("model", AUTO)):
        chosen = (SelfRefineCritic(),)
    if chosen is None:
        # What a report quotes was written by others: its spelling is theirs.
        chosen = (LintCritic(),) if options.get("inquiry") is None else ()
    if (format := options.get("format")) is not None:
        chosen = tuple(
            each.model_copy(update={"format": format})
            if isinstance(each, LintCritic | StyleCritic) and each.format is None
            else each
            for each in chosen
        )
    held["critics"] = chosen
    return Resources(**held)


def config_of(options: Mapping[str, Any], resources: Resources) -> ChainConfig:
    """The configuration that a run's record keeps: data, with the meaning of the effort.

    Raises:
        ConfigurationError: An option is wrong, or two do not go together.
    """
    data = {"fixes": "auto", "facts": "ask"} | _by_effort(options, resources)
    judge = resources.judge_model
    data |= {
        "model": model_name(resources.model),
        "judge_model": None if judge is None else model_name(judge),
        "fallback_models": tuple(model_name(model) for model in resources.fallback_models),
        "validators": tuple(validator.spec() for validator in resources.validators),
        "critics": tuple(critic.spec() for critic in resources.critics),
        "retrievers": tuple(
            each.spec() if isinstance(each, Component) else code_spec(each)
            for each in resources.retrievers
        ),
    }
    try:
        config = ChainConfig.model_validate(data)
        Started(config=config, tags=options.get("tags", ()))
    except ValidationError as error:
        raise ConfigurationError(explain(error)) from error
    remember = options.get("remember", 0)
    if not 0 <= remember <= MOST_REMEMBERED:
        raise ConfigurationError(
            f"remember={remember} is not possible", f"learn from 0 to {MOST_REMEMBERED} past runs"
        )
    if CALLER in config.fallback_models[:-1]:
        raise ConfigurationError(
            "`caller` stands in for every model that fails", "name it last in fallback_models"
        )
    if config.format is not None:
        _check_format(config.format)
    if config.model == EDITOR and config.fixes == "none":
        raise ConfigurationError(
            "`fixes` is `none`, and the editor makes fixes alone", "leave fixes out"
        )
    if config.width > 1 and config.policy not in {"best_of_n", "judged"}:
        raise ConfigurationError(
            f"width={config.width} has no effect with the policy `{config.policy}`",
            "use policy=`best_of_n` or `judged`, or leave width out",
        )
    if resources.researcher is not None and config.inquiry is None:
        raise ConfigurationError(
            "there is a researcher and nothing to research", "say how with inquiry=Inquiry(...)"
        )
    return config


def _by_effort(options: Mapping[str, Any], resources: Resources) -> dict[str, Any]:
    """The settings, with what the effort means for this model where they leave it out."""
    effort = options.get("effort", "standard")
    if effort not in tuple(PRESETS):
        raise ConfigurationError(f"unknown effort {effort!r}", did_you_mean(str(effort), PRESETS))
    meant = PRESETS[effort]
    given = {
        name: value
        for name, value in options.items()
        if name in ChainConfig.model_fields and (value is not None or name not in _USUAL_WHEN_NONE)
    }
    # A `Model` only writes; a provider's can be asked other questions too.
    writer = asks_a_provider(resources.model) and not isinstance(resources.model, Model)
    has_judge = writer or resources.judge_model is not None
    policy = given.get("policy", meant.policy if has_judge else "best")
    width = _WIDTH if policy == "best_of_n" else 1
    look_back = given.get("look_back")
    if look_back is None and has_judge:
        look_back = 0 if policy == "last" else meant.look_back
    if not has_judge and (policy == "judged" or look_back):
        needs, instead = "the look back", "leave look_back out"
        if policy == "judged":
            needs, instead = "the policy `judged`", "use the policy `best`"
        raise ConfigurationError(
            f"{needs} needs a model that compares versions",
            f"configure one (judge_model, or model=provider:name), or {instead}",
        )
    return {
        "policy": policy,
        "width": meant.width if "policy" not in given and has_judge else width,
        "max_iterations": meant.rounds if writer else meant.max_iterations,
        "own_review": meant.own_review,
        "budget": _NO_LIMIT,
        **given,
        "look_back": look_back,
    }


def _check_format(name: str) -> None:
    from sifaka.text.formats import UNCHECKED, Format

    known = [each.value for each in Format if each not in UNCHECKED]
    if name not in known:
        raise ConfigurationError(f"unknown format {name!r}", did_you_mean(name, known))


def options_of(config: ChainConfig) -> ChainOptions:
    """The options of a chain that has this configuration.

    Raises:
        ConfigurationError: It names a component that is code, not data; only the program that has
            that code can go on with the run.
    """
    components = (*config.validators, *config.critics, *config.retrievers)
    models = (config.model, config.judge_model or "", *config.fallback_models)
    held = any(component["type"] == "object" for component in components)
    if held or any(model.startswith(_OBJECT) for model in models):
        raise ConfigurationError(
            "the run was started with components that are not plain data",
            "resume it from the program that started it",
        )
    return cast("ChainOptions", {name: getattr(config, name) for name in ChainConfig.model_fields})
