"""Critics: who says whether a text needs a revision, and why."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka.critics.constitutional import ConstitutionalCritic
from sifaka.critics.evidence import EvidenceCritic
from sifaka.critics.judge import JudgingCritic
from sifaka.critics.lint import LintCritic
from sifaka.critics.meta_rewarding import MetaRewardingCritic
from sifaka.critics.n_critics import NCriticsCritic
from sifaka.critics.plugin import PluggedCritic, unplugged
from sifaka.critics.prompt import PromptCritic
from sifaka.critics.protocol import Critic
from sifaka.critics.reflexion import MEMORY, ReflexionCritic
from sifaka.critics.sectioned import SectionedCritic, read_by_section
from sifaka.critics.self_consistency import SelfConsistencyCritic
from sifaka.critics.self_rag import SelfRAGCritic
from sifaka.critics.self_refine import SelfRefineCritic
from sifaka.errors import ConfigurationError
from sifaka.plugins import NO_PLUGINS, Plugins

if TYPE_CHECKING:
    from pydantic_ai.models import Model

CRITICS: Mapping[str, type[LintCritic | JudgingCritic | EvidenceCritic]] = MappingProxyType(
    {
        "lint": LintCritic,
        "self_refine": SelfRefineCritic,
        "prompt": PromptCritic,
        "reflexion": ReflexionCritic,
        "constitutional": ConstitutionalCritic,
        "self_rag": SelfRAGCritic,
        "evidence": EvidenceCritic,
        "self_consistency": SelfConsistencyCritic,
        "meta_rewarding": MetaRewardingCritic,
        "n_critics": NCriticsCritic,
    }
)
"""Every built-in critic by its `type`."""

_MOST = 20
"""Critics of one chain: each that asks a model is a call for each version."""
CriticSpec = str | Mapping[str, object] | Critic
"""A critic's name, its `{"type": ..., options}`, or the critic itself."""


def parse_critics(
    specs: Iterable[CriticSpec],
    *,
    read_file: Callable[[str], str] | None = None,
    plugins: Plugins = NO_PLUGINS,
) -> tuple[Critic, ...]:
    """The critics that specs describe.

    Args:
        specs: The critics.
        read_file: Opens the files that specs name; the file system when None. It may refuse with a
            `ConfigurationError`.
        plugins: Where critics come from that are not built in.

    Raises:
        ConfigurationError: A spec is wrong; the message says which one, and what is allowed.
        PluginError: A critic of another package is not allowed, or cannot be used.
    """
    given = tuple(specs)
    if len(given) > _MOST:
        raise ConfigurationError(f"{len(given)} critics", f"ask {_MOST} or fewer")
    context = {} if read_file is None else {"read_file": read_file}
    return tuple(_parse(spec, f"critics[{n}]", context, plugins) for n, spec in enumerate(given))


AnyCritic = TypeVar("AnyCritic", bound=Critic)


def with_judge(critic: AnyCritic, judge: "Model | None") -> AnyCritic:
    """The critic with the models it asks: its own, opened by their names, or else the judge.

    Raises:
        ConfigurationError: It needs a model and there is none, or its own cannot be used.
    """
    judging = _judging(critic)
    if judging is None:
        return critic
    judged = judging.judged_by(judge)
    if isinstance(critic, PluggedCritic):
        return cast("AnyCritic", critic.holding(judged))
    return cast("AnyCritic", judged)


def asks_a_model(critic: Critic) -> bool:
    """Whether an opinion of this critic takes a model call."""
    return _judging(critic) is not None


def calls_of(critic: Critic, text: str = "") -> int:
    """How many model calls an opinion of this critic on a text takes at least."""
    inner = unplugged(critic)
    if isinstance(inner, EvidenceCritic):
        return inner.calls
    judging = _judging(critic)
    opinions = critic.opinions_on(text) if isinstance(critic, SectionedCritic) else 1
    return 0 if judging is None else opinions * judging.calls


def models_of(critic: Critic) -> tuple[Any, ...]:
    """The models that a critic names itself, and after `with_judge` all that it asks."""
    judging = _judging(critic)
    return () if judging is None else judging.asked


def _judging(critic: Critic) -> JudgingCritic | None:
    inner = unplugged(critic.component if isinstance(critic, SectionedCritic) else critic)
    return inner if isinstance(inner, JudgingCritic) else None


def _parse(spec: CriticSpec, place: str, context: Mapping[str, object], plugins: Plugins) -> Critic:
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
        made = plugins.make("critics", spec, place)
        if made is not None:
            return PluggedCritic(*made)
        known = (*CRITICS, *plugins.offered("critics", CRITICS))
        raise ConfigurationError(
            f"{place}: unknown critic {kind!r}", f"known critics: {', '.join(known)}"
        )
    plugins.tell_if_shadowed("critics", kind)
    try:
        return CRITICS[kind].model_validate(dict(spec), context=dict(context))
    except ValidationError as error:
        raise ConfigurationError(explain(error, place)) from error
    except ConfigurationError as error:
        raise ConfigurationError(f"{place}: {error.message}", error.suggestion) from error


__all__ = [
    "CRITICS",
    "MEMORY",
    "ConstitutionalCritic",
    "Critic",
    "CriticSpec",
    "EvidenceCritic",
    "LintCritic",
    "MetaRewardingCritic",
    "NCriticsCritic",
    "PluggedCritic",
    "PromptCritic",
    "ReflexionCritic",
    "SelfConsistencyCritic",
    "SelfRAGCritic",
    "SelfRefineCritic",
    "asks_a_model",
    "calls_of",
    "models_of",
    "parse_critics",
    "read_by_section",
    "unplugged",
    "with_judge",
]
