"""The settings of a chain: what a run's record keeps of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.naming import did_you_mean
from sifaka.calls.component import Component, code_spec
from sifaka.chain.presets import PRESETS, Effort
from sifaka.chain.writers import asks_a_provider, model_name
from sifaka.critics import CriticComponent, LintCritic, SelfRefineCritic
from sifaka.errors import ConfigurationError
from sifaka.models import AUTO, CALLER, Model
from sifaka.record.entries import ChainConfig, Facts, Fixes, Policy, Started
from sifaka.record.inquiry import Inquiry
from sifaka.record.thought import EDITOR
from sifaka.record.usage import Budget
from sifaka.retrievers.protocol import Retriever
from sifaka.text.sections import SECTION_CHARS
from sifaka.validators.protocol import ValidatorComponent

MOST_REMEMBERED = 20
"""Past runs whose lessons a writer can be told."""
_WIDTH = 3
"""Versions at a time with the policy `best_of_n`."""
_NO_LIMIT = Budget()
_OBJECT = "object:"
"""The prefix of the recorded name of a model that was an object; see `model_name`."""


@dataclass(frozen=True, kw_only=True)
class ChainSettings:
    """The settings of a chain as they were given; see `sifaka.chain.options` for each of them.

    What was left out is None and stays so: with another model the same effort may mean something
    else. `config` and `chosen_critics` say what it means with this one.

    Raises:
        ConfigurationError: A setting is wrong, or two do not go together.
    """

    model: Any = AUTO
    validators: tuple[ValidatorComponent, ...] = ()
    critics: tuple[CriticComponent, ...] | None = None
    retrievers: tuple[Retriever, ...] = ()
    prompt: str = ""
    effort: Effort = "standard"
    max_iterations: int | None = None
    policy: Policy | None = None
    width: int | None = None
    look_back: int | None = None
    max_edit_ratio: float | None = None
    protect: bool = True
    patience: int | None = 1
    critic_deadline: float | None = None
    budget: Budget = _NO_LIMIT
    judge_model: Any = None
    fallback_models: tuple[Any, ...] = ()
    tags: tuple[str, ...] = ()
    remember: int = 0
    inquiry: Inquiry | None = None
    section_chars: int | None = SECTION_CHARS
    fixes: Fixes | None = "auto"
    format: str | None = None
    facts: Facts | None = "ask"
    own_review: bool | None = None

    def __post_init__(self) -> None:
        if self.effort not in tuple(PRESETS):
            raise ConfigurationError(
                f"unknown effort {self.effort!r}", did_you_mean(str(self.effort), PRESETS)
            )
        try:
            config = self.config
            Started(config=config, tags=self.tags)
        except ValidationError as error:
            raise ConfigurationError(explain(error)) from error
        if not 0 <= self.remember <= MOST_REMEMBERED:
            raise ConfigurationError(
                f"remember={self.remember} is not possible",
                f"learn from 0 to {MOST_REMEMBERED} past runs",
            )
        if CALLER in self.fallback_models[:-1]:
            raise ConfigurationError(
                "`caller` stands in for every model that fails", "name it last in fallback_models"
            )
        if self.format is not None:
            _check_format(self.format)
        if self.model == EDITOR and self.fixes == "none":
            raise ConfigurationError(
                "`fixes` is `none`, and the editor makes fixes alone", "leave fixes out"
            )
        if config.width > 1 and config.policy not in {"best_of_n", "judged"}:
            raise ConfigurationError(
                f"width={config.width} has no effect with the policy `{config.policy}`",
                "use policy=`best_of_n` or `judged`, or leave width out",
            )

    @cached_property
    def config(self) -> ChainConfig:
        """The settings as a run's record keeps them: data, with the meaning of the effort."""
        meant = PRESETS[self.effort]
        # A `Model` only writes; a provider's can be asked other questions too.
        writer = asks_a_provider(self.model) and not isinstance(self.model, Model)
        has_judge = writer or self.judge_model is not None
        by_effort = self.policy is None and has_judge
        usual = meant.policy if by_effort else "best"
        policy = usual if self.policy is None else self.policy
        rounds = meant.rounds if writer else meant.max_iterations
        width = meant.width if by_effort else _WIDTH if policy == "best_of_n" else 1
        look_back = self.look_back
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
        return ChainConfig(
            model=model_name(self.model),
            validators=tuple(validator.spec() for validator in self.validators),
            critics=tuple(critic.spec() for critic in self.chosen_critics),
            retrievers=tuple(
                each.spec() if isinstance(each, Component) else code_spec(each)
                for each in self.retrievers
            ),
            policy=policy,
            width=width if self.width is None else self.width,
            look_back=look_back,
            max_edit_ratio=self.max_edit_ratio,
            protect=self.protect,
            patience=self.patience,
            critic_deadline=self.critic_deadline,
            max_iterations=rounds if self.max_iterations is None else self.max_iterations,
            budget=self.budget,
            judge_model=None if self.judge_model is None else model_name(self.judge_model),
            fallback_models=tuple(model_name(model) for model in self.fallback_models),
            inquiry=self.inquiry,
            section_chars=self.section_chars,
            fixes=self.fixes,
            format=self.format,
            facts=self.facts,
            own_review=meant.own_review if self.own_review is None else self.own_review,
        )

    @property
    def edits(self) -> bool:
        """True when the editor may change the text.

        It may not change a report of research: what that quotes was written by others.
        """
        return self.inquiry is None and self.fixes != "none"

    @cached_property
    def chosen_critics(self) -> tuple[CriticComponent, ...]:
        """The critics, or those that suit the model where none were given."""
        chosen = self.critics
        if chosen is None and asks_a_provider(self.model):
            chosen = (SelfRefineCritic(),)
        if chosen is None:
            # What a report quotes was written by others: its spelling is theirs.
            chosen = (LintCritic(),) if self.inquiry is None else ()
        if self.format is None:
            return chosen
        read = {"format": self.format}
        return tuple(
            each.model_copy(update=read)
            if isinstance(each, LintCritic) and each.format is None
            else each
            for each in chosen
        )


def _check_format(name: str) -> None:
    from sifaka.text.formats import UNCHECKED, Format

    known = [each.value for each in Format if each not in UNCHECKED]
    if name not in known:
        raise ConfigurationError(f"unknown format {name!r}", did_you_mean(name, known))


def options_of(config: ChainConfig) -> Mapping[str, Any]:
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
    return {name: getattr(config, name) for name in ChainConfig.model_fields}
