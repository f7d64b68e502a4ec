"""Critics: who says whether a text needs a revision, and why."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import ValidationError

from sifaka.critics.judge import JudgingCritic
from sifaka.critics.lint import LintCritic
from sifaka.critics.prompt import PromptCritic
from sifaka.critics.protocol import Critic
from sifaka.critics.self_refine import SelfRefineCritic
from sifaka.errors import ConfigurationError
from sifaka.explain import explain

if TYPE_CHECKING:
    from sifaka.models.metered import MeteredModel

CRITICS: Mapping[str, type[LintCritic | SelfRefineCritic | PromptCritic]] = MappingProxyType(
    {"lint": LintCritic, "self_refine": SelfRefineCritic, "prompt": PromptCritic}
)
"""Every built-in critic by its `type`."""

_MOST = 20
"""Critics of one chain: each that asks a model is a call for each version."""
CriticSpec = str | Mapping[str, object] | Critic
"""A critic's name, its `{"type": ..., options}`, or the critic itself."""


def parse_critics(specs: Iterable[CriticSpec]) -> tuple[Critic, ...]:
    """The critics that specs describe.

    Raises:
        ConfigurationError: A spec is wrong; the message says which one, and what is allowed.
    """
    given = tuple(specs)
    if len(given) > _MOST:
        raise ConfigurationError(f"{len(given)} critics", f"ask {_MOST} or fewer")
    return tuple(_parse(spec, f"critics[{n}]") for n, spec in enumerate(given))


def with_judge(critic: Critic, judge: "MeteredModel | None") -> Critic:
    """The critic with the model it asks: its own, opened by its name, or else the judge.

    Raises:
        ConfigurationError: It needs a model and there is none, or its own cannot be used.
    """
    if not isinstance(critic, JudgingCritic):
        return critic
    asked = judge if critic.model is None else critic.model
    if asked is None:
        raise ConfigurationError(
            f"critic {critic.name!r} needs a model",
            "configure one (SIFAKA_MODEL, or model=provider:name), or use the critic `lint`",
        )
    from sifaka.models.provider import provider_model

    return critic.model_copy(update={"model": provider_model(asked)})


def asks_a_model(critic: Critic) -> bool:
    """Whether an opinion of this critic takes a model call."""
    return isinstance(critic, JudgingCritic)


def _parse(spec: CriticSpec, place: str) -> Critic:
    if isinstance(spec, str):
        spec = {"type": spec}
    if not isinstance(spec, Mapping):
        if not callable(getattr(spec, "critique", None)):
            raise ConfigurationError(
                f"{place}: {type(spec).__name__} is not a critic",
                f"give a name ({', '.join(CRITICS)}), an object with a type, or a critic",
            )
        return spec
    kind = spec.get("type")
    if not isinstance(kind, str) or kind not in CRITICS:
        raise ConfigurationError(
            f"{place}: unknown critic {kind!r}", f"known critics: {', '.join(CRITICS)}"
        )
    try:
        return CRITICS[kind].model_validate(dict(spec))
    except ValidationError as error:
        raise ConfigurationError(explain(error, place)) from error


__all__ = [
    "CRITICS",
    "Critic",
    "CriticSpec",
    "LintCritic",
    "PromptCritic",
    "SelfRefineCritic",
    "asks_a_model",
    "parse_critics",
    "with_judge",
]
