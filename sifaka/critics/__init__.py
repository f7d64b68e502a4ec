"""Critics: who says whether a text needs a revision, and why."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import cast

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.naming import closest
from sifaka.critics.constitutional import ConstitutionalCritic
from sifaka.critics.evidence import EvidenceCritic
from sifaka.critics.execution import SectionedCritic
from sifaka.critics.judge import JudgingCritic
from sifaka.critics.lint import EditorCritic, LintCritic, StyleCritic
from sifaka.critics.meta_rewarding import MetaRewardingCritic
from sifaka.critics.n_critics import NCriticsCritic
from sifaka.critics.prompt import PromptCritic
from sifaka.critics.protocol import (
    Critic,
    CriticComponent,
    CriticFunction,
    ForeignCritic,
    FunctionCritic,
    as_critic,
)
from sifaka.critics.reflexion import MEMORY, ReflexionCritic
from sifaka.critics.self_consistency import SelfConsistencyCritic
from sifaka.critics.self_rag import SelfRAGCritic
from sifaka.critics.self_refine import SelfRefineCritic
from sifaka.errors import ConfigurationError
from sifaka.plugins import NO_PLUGINS, Plugins

CRITICS: Mapping[str, type[LintCritic | StyleCritic | JudgingCritic | EvidenceCritic]] = (
    MappingProxyType(
        {
            "lint": LintCritic,
            "style": StyleCritic,
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
)
"""Every built-in critic by its `type`."""

_MOST = 20
"""Critics of one chain: each that asks a model is a call for each version."""
CriticSpec = str | Mapping[str, object] | Critic | CriticFunction
"""A name, a `{"type": ..., options}`, a critic, or a function that judges a text."""


def parse_critics(
    specs: CriticSpec | Iterable[CriticSpec],
    *,
    read_file: Callable[[str], str] | None = None,
    plugins: Plugins = NO_PLUGINS,
) -> tuple[CriticComponent, ...]:
    """The critics that specs describe.

    Args:
        specs: The critics, or a single one.
        read_file: Opens the files that specs name; the file system when None. It may refuse with a
            `ConfigurationError`.
        plugins: The packages that offer critics which are not built in.

    Raises:
        ConfigurationError: A spec is wrong; the message says which one, and what is allowed.
        PluginError: A critic of another package is not allowed, or cannot be used.
    """
    is_single = isinstance(specs, str | Mapping | Critic) or callable(specs)
    items = tuple(cast("Iterable[CriticSpec]", (specs,) if is_single else specs))
    if len(items) > _MOST:
        raise ConfigurationError(f"{len(items)} critics", f"ask {_MOST} or fewer")
    context = {} if read_file is None else {"read_file": read_file}
    return tuple(_parse(spec, f"critics[{n}]", context, plugins) for n, spec in enumerate(items))


def _parse(
    spec: CriticSpec, path: str, context: Mapping[str, object], plugins: Plugins
) -> CriticComponent:
    try:
        if not isinstance(spec, str | Mapping):
            return as_critic(spec)
        data = {"type": spec} if isinstance(spec, str) else cast("Mapping[str, object]", spec)
        kind = data.get("type")
        if isinstance(kind, str) and kind in CRITICS:
            return CRITICS[kind].model_validate(dict(data), context=dict(context))
    except ValidationError as error:
        raise ConfigurationError(explain(error, path)) from error
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error.message}", error.suggestion) from error
    made = plugins.make("critics", data, path)
    if made is not None:
        return ForeignCritic(*made)
    names = (*CRITICS, *plugins.offered("critics", CRITICS))
    similar = closest(str(kind), names)
    hint = f"did you mean {similar!r}? " if similar else ""
    raise ConfigurationError(
        f"{path}: unknown critic {kind!r}", f"{hint}known critics: {', '.join(names)}"
    )


__all__ = [
    "CRITICS",
    "MEMORY",
    "ConstitutionalCritic",
    "Critic",
    "CriticComponent",
    "CriticFunction",
    "CriticSpec",
    "EditorCritic",
    "EvidenceCritic",
    "ForeignCritic",
    "FunctionCritic",
    "LintCritic",
    "MetaRewardingCritic",
    "NCriticsCritic",
    "PromptCritic",
    "ReflexionCritic",
    "SectionedCritic",
    "SelfConsistencyCritic",
    "SelfRAGCritic",
    "SelfRefineCritic",
    "StyleCritic",
    "as_critic",
    "parse_critics",
]
