"""The configuration of a chain, and chains made from others."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, Self, Unpack, cast

from sifaka._internal.naming import did_you_mean
from sifaka.calls.monitoring import Monitor
from sifaka.chain.options import ChainOptions
from sifaka.chain.resources import Resources
from sifaka.chain.settings import ChainSettings, options_of
from sifaka.critics import CriticSpec, parse_critics
from sifaka.errors import ConfigurationError
from sifaka.record.entries import ChainConfig
from sifaka.record.usage import Budget
from sifaka.retrievers.protocol import Retriever
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators import ValidatorLike, parse_validators


class ConfiguredChain:
    """A chain's settings and resources. They never change: each `with_...` returns a new chain.

    Args:
        **options: See `ChainOptions`.

    Raises:
        ConfigurationError: An option is unknown, or a component or a setting is wrong; nothing was
            started.
        PluginError: A component of another package is not allowed, or cannot be used.
    """

    def __init__(self, **options: Unpack[ChainOptions]) -> None:
        self.settings, self.resources = _configured(options, ChainSettings(), Resources())

    @classmethod
    def of_config(cls, config: ChainConfig, **options: Unpack[ChainOptions]) -> Self:
        """The chain that a stored run was started with, built again.

        Args:
            config: The run's configuration.
            **options: What is not part of it, such as the store.

        Raises:
            ConfigurationError: It had a component that is code, not data; only the program that
                has that code can go on with the run.
        """
        return cls(**cast("ChainOptions", {**options_of(config), **options}))

    @property
    def config(self) -> ChainConfig:
        """The chain as data."""
        return self.settings.config

    @property
    def store(self) -> ThoughtStore:
        """The store of the runs."""
        return self.resources.store

    @property
    def monitor(self) -> Monitor:
        """The times of the components."""
        return self.resources.monitor

    def replace(self, **options: Unpack[ChainOptions]) -> Self:
        """This chain with other options; what they leave out stays.

        Raises:
            ConfigurationError: As for a new chain.
            PluginError: As for a new chain.
        """
        other = object.__new__(type(self))
        other.settings, other.resources = _configured(options, self.settings, self.resources)
        return other

    def with_model(self, model: Any) -> Self:
        """This chain with another model."""
        return self.replace(model=model)

    def with_prompt(self, prompt: str) -> Self:
        """This chain with a task for runs that are given none."""
        return self.replace(prompt=prompt)

    def with_retriever(self, retriever: Retriever) -> Self:
        """This chain with one more retriever."""
        return self.replace(retrievers=(*self.settings.retrievers, retriever))

    def validate_with(self, *validators: ValidatorLike) -> Self:
        """This chain with more validators."""
        return self.replace(validators=(*self.settings.validators, *validators))

    def improve_with(self, *critics: CriticSpec) -> Self:
        """This chain with more critics; the first given replace the default ones."""
        return self.replace(critics=(*(self.settings.critics or ()), *critics))


def _configured(
    options: ChainOptions, settings: ChainSettings, resources: Resources
) -> tuple[ChainSettings, Resources]:
    """Settings and resources with the options in the place of what they had.

    Raises:
        ConfigurationError: An option is unknown, or a component or a setting is wrong.
        PluginError: A component of another package is not allowed, or cannot be used.
    """
    given: dict[str, Any] = dict(options)
    for name in given:
        if name not in _NAMES:
            raise ConfigurationError(f"unknown option {name!r}", did_you_mean(name, _NAMES))
    checkpoints = given.pop("checkpoint_storage", None)
    if checkpoints is not None and given.get("store") is None:
        given["store"] = checkpoints
    new, fresh = {name: given.pop(name) for name in _RESOURCES if name in given}, Resources()
    resources = replace(
        resources,
        **{name: getattr(fresh, name) if value is None else value for name, value in new.items()},
    )
    for name, value in given.items():  # components parsed, and no list that may change
        match name:
            case "validators":
                given[name] = parse_validators(value, plugins=resources.plugins)
            case "critics" if value is not None:
                given[name] = parse_critics(value, plugins=resources.plugins)
            case "budget" if value is None:
                given[name] = Budget()
            case "retrievers" | "fallback_models":
                given[name] = tuple(cast("Iterable[Any]", value))
            case "tags":
                given[name] = tuple(dict.fromkeys(cast("Iterable[str]", value)))
            case _:
                pass
    settings = replace(settings, **given)
    if resources.researcher is not None and settings.inquiry is None:
        raise ConfigurationError(
            "there is a researcher and nothing to research", "say how with inquiry=Inquiry(...)"
        )
    return settings, resources


_NAMES = tuple(sorted(ChainOptions.__annotations__))
_RESOURCES = tuple(field.name for field in fields(Resources))
