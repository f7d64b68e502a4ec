"""A chain as its settings: what it is made of, and how it is recorded."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, cast

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.loading import load_pydantic_ai
from sifaka.calls.breakers import Breakers
from sifaka.calls.host import Host, Unreachable
from sifaka.calls.monitoring import Monitor
from sifaka.chain.components import describe, settings_of
from sifaka.chain.judging import Judge, ModelJudge
from sifaka.chain.presets import Effort, preset
from sifaka.chain.resources import Parts
from sifaka.chain.writers import (
    Writer,
    asks_a_provider,
    by_section,
    can_judge,
    judge_for,
    model_name,
    writers_for,
)
from sifaka.critics import CriticSpec, parse_critics, read_by_section, with_judge
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import NONE, Adapters
from sifaka.models import AUTO, CALLER, HOST
from sifaka.models.connections import Connections
from sifaka.models.provider import provider_model
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.record.claims import ClaimChecker
from sifaka.record.entries import ChainConfig, Policy, Started
from sifaka.record.inquiry import Inquiry
from sifaka.record.usage import Budget
from sifaka.research.protocol import Researcher
from sifaka.retrievers.protocol import Retriever
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.text.sections import SECTION_CHARS
from sifaka.validators import parse_validators
from sifaka.validators.evidence import Component, searches, searching, with_checker
from sifaka.validators.protocol import Validator

if TYPE_CHECKING:
    from sifaka.models.host import HostModel
    from sifaka.models.journaled import JournaledModel

_NOBODY = Unreachable("the host's model cannot be asked: the client offers no sampling")
_HANDED_OVER = Unreachable("the host's model is not asked any more: the caller has taken over")
MOST_REMEMBERED = 20
"""Past runs whose lessons a writer can be told."""
_WIDTH = 3
"""Versions at a time with the policy `best_of_n`."""


class ConfiguredChain:
    """The settings of a chain. They never change: each `with_...` returns a new chain.

    Args:
        model: Who writes. `auto` (the editor, then the calling agent), `editor`, `caller`, `host`,
            `provider:name`, a PydanticAI agent or model, or any `Model`.
        validators: What a text must pass: validators or their specs.
        critics: Who judges it: critics, names or specs. None takes `self_refine` with a model and
            `lint` without one.
        retrievers: Where documents for the writer and the critics come from.
        prompt: The task, for runs that are given none.
        effort: How hard to try, where the settings below do not say; see `sifaka.chain.presets`.
        max_iterations: The most rounds in which a model or the caller writes after the first
            version.
        policy: `best` keeps the best version so far by what validators and critics say, `judged`
            asks a judge to compare versions pairwise, `best_of_n` writes several versions at a time
            and keeps the best, `last` keeps the last.
        width: Versions written at a time with `best_of_n` or `judged`; when None 3 and 1.
        judge_repeats: Comparisons of two versions with `judged`, each in both orders.
        max_edit_ratio: The largest share of the original's words that may be changed.
        protect: Whether code, numbers, quotes, links and names must survive when there is no task.
        patience: Rounds in a row without gain after which a model is not asked again.
        critic_deadline: Seconds after which a critic that has not answered abstains.
        budget: What a run may spend.
        judge_model: What critics ask that name no model, and what compares versions: a name, a
            PydanticAI model, or any `Judge`. The writer's model when None.
        fallback_models: Asked in this order when the model has failed for good; `host` may be among
            them, and `caller` the last.
        host: Asks the model of the program that called, for `host`.
        store: Where runs are kept; in memory when None.
        tags: Words to find its runs by.
        remember: From how many similar past runs of the store the writer is told the lessons.
        checkpoint_storage: Another name for `store`: every entry of a run is a checkpoint.
        deps: What a PydanticAI agent's tools depend on.
        breakers: The circuit breakers of the providers, to share them among chains.
        monitor: Where the time is counted, to share it among chains.
        plugins: Where critics and validators come from that are not built in; none when None.
        adapters: Where evidence is searched for; nowhere when None.
        inquiry: How the first version is researched, with the prompt as the question; when None it
            is given, or written from the task.
        researcher: Who researches it instead of the graphs of `sifaka.research`; it is no part of
            the configuration on record.
        section_chars: Characters beyond which models write and judge a text section by section, at
            least 2,000; never when None.
        connections: Keeps the providers' clients open from run to run; otherwise each run opens
            and closes its own.

    Raises:
        ConfigurationError: A component or a setting is wrong; nothing was started.
        PluginError: A component of another package is not allowed, or cannot be used.
    """

    def __init__(
        self,
        *,
        model: Any = AUTO,
        validators: Iterable[Validator | Mapping[str, object]] = (),
        critics: Iterable[CriticSpec] | None = None,
        retrievers: Iterable[Retriever] = (),
        prompt: str = "",
        effort: Effort = "standard",
        max_iterations: int | None = None,
        policy: Policy | None = None,
        width: int | None = None,
        judge_repeats: int | None = None,
        max_edit_ratio: float | None = None,
        protect: bool = True,
        patience: int | None = 2,
        critic_deadline: float | None = None,
        budget: Budget | None = None,
        judge_model: Any = None,
        fallback_models: Iterable[Any] = (),
        store: ThoughtStore | None = None,
        tags: Iterable[str] = (),
        remember: int = 0,
        checkpoint_storage: ThoughtStore | None = None,
        deps: Any = None,
        breakers: Breakers | None = None,
        monitor: Monitor | None = None,
        connections: Connections | None = None,
        host: Host | None = None,
        plugins: Plugins | None = None,
        adapters: Adapters | None = None,
        inquiry: Inquiry | None = None,
        researcher: Researcher | None = None,
        section_chars: int | None = SECTION_CHARS,
    ) -> None:
        self.plugins = NO_PLUGINS if plugins is None else plugins
        meant = preset(effort)
        has_judge = judge_model is not None or can_judge(model)
        # What was left out stays so: another model may mean something else by the same effort.
        self._given: Mapping[str, Any] = MappingProxyType(
            {
                "critics": None
                if critics is None
                else parse_critics(critics, plugins=self.plugins),
                "max_iterations": max_iterations,
                "policy": policy,
                "width": width,
                "judge_repeats": judge_repeats,
            }
        )
        self.model = model
        self.effort: Effort = effort
        self.validators = parse_validators(validators, plugins=self.plugins)
        # What a report quotes was written by others: its spelling is theirs.
        unasked = ("lint",) if inquiry is None else ()
        default = ("self_refine",) if asks_a_provider(model) else unasked
        given = self._given["critics"]
        self.critics = parse_critics(default) if given is None else given
        self.retrievers = tuple(retrievers)
        self.prompt = prompt
        self.max_iterations = meant.max_iterations if max_iterations is None else max_iterations
        usual_policy: Policy = "judged" if meant.judged and has_judge else "best"
        self.policy: Policy = usual_policy if policy is None else policy
        by_effort = policy is None and self.policy == "judged"
        usual_width = meant.width if by_effort else _WIDTH if self.policy == "best_of_n" else 1
        self.width = usual_width if width is None else width
        self.judge_repeats = meant.judge_repeats if judge_repeats is None else judge_repeats
        self.max_edit_ratio = max_edit_ratio
        self.protect = protect
        self.patience = patience
        self.critic_deadline = critic_deadline
        self.budget = Budget() if budget is None else budget
        self.judge_model = judge_model
        self.fallback_models = tuple(fallback_models)
        kept_in = checkpoint_storage if store is None else store
        self.store = MemoryStorage() if kept_in is None else kept_in
        self.tags = tuple(dict.fromkeys(tags))
        self.remember = remember
        self.deps = deps
        self.breakers = Breakers() if breakers is None else breakers
        self.monitor = Monitor() if monitor is None else monitor
        self.connections = connections
        self.host = host
        self.adapters = NONE if adapters is None else adapters
        self.inquiry = inquiry
        self.researcher = researcher
        self.section_chars = section_chars
        self._check(has_judge=has_judge)

    @classmethod
    def of_config(cls, config: ChainConfig, **settings: Any) -> Self:
        """The chain that a stored run was started with, built again.

        Args:
            config: The run's configuration.
            **settings: What is not part of it, such as the store.

        Raises:
            ConfigurationError: It had a component that is code, not data; only the program that
                has that code can go on with the run.
        """
        return cls(**settings_of(config), **settings)

    @property
    def config(self) -> ChainConfig:
        """The chain as data."""
        return ChainConfig(
            model=model_name(self.model),
            validators=tuple(describe(v) for v in self.validators),
            critics=tuple(describe(c) for c in self.critics),
            retrievers=tuple(describe(r) for r in self.retrievers),
            policy=self.policy,
            width=self.width,
            judge_repeats=self.judge_repeats,
            max_edit_ratio=self.max_edit_ratio,
            protect=self.protect,
            patience=self.patience,
            critic_deadline=self.critic_deadline,
            max_iterations=self.max_iterations,
            budget=self.budget,
            judge_model=None if self.judge_model is None else model_name(self.judge_model),
            fallback_models=tuple(model_name(model) for model in self.fallback_models),
            inquiry=self.inquiry,
            section_chars=self.section_chars,
        )

    def with_model(self, model: Any) -> Self:
        """This chain with another model."""
        return self._with(model=model)

    def with_prompt(self, prompt: str) -> Self:
        """This chain with a task for runs that are given none."""
        return self._with(prompt=prompt)

    def with_retriever(self, retriever: Retriever) -> Self:
        """This chain with one more retriever."""
        return self._with(retrievers=(*self.retrievers, retriever))

    def validate_with(self, *validators: Validator | Mapping[str, object]) -> Self:
        """This chain with more validators."""
        return self._with(validators=(*self.validators, *validators))

    def improve_with(self, *critics: CriticSpec) -> Self:
        """This chain with more critics; the first given replace the default ones."""
        return self._with(critics=(*(self._given["critics"] or ()), *critics))

    def _parts(self, *, without_host: bool = False, documents: bool = False) -> Parts:
        """What a run is worked on with.

        Args:
            without_host: Whether the host is not to be asked, although it could be.
            documents: Whether some are at hand, whatever is found.

        Raises:
            ConfigurationError: A model is unknown or cannot be used, or claims are to be held
                against evidence, and there is no place to find any.
        """
        self._require_sources(documents=documents)
        fallbacks = self.fallback_models
        host = _HANDED_OVER if without_host else self.host or _NOBODY
        opening = partial(self._open, host)
        writers = writers_for(
            self.model,
            self.validators,
            fallbacks=fallbacks,
            deps=self.deps,
            opening=opening,
            edits=self.inquiry is None,
        )
        own = self.judge_model if callable(getattr(self.judge_model, "compare", None)) else None
        asked = judge_for(
            None if own else self.judge_model, writers, fallbacks=fallbacks, opening=opening
        )
        judge: Judge | None = None
        if self.policy == "judged":
            judge = cast("Judge", own) if own else ModelJudge(asked)
        checker = self._checker(asked)
        researcher, unaided = self._researchers(writers)
        return Parts(
            writers=tuple(by_section(w, self.section_chars, protect=self.protect) for w in writers),
            validators=tuple(self._searching(each, checker) for each in self.validators),
            critics=tuple(
                read_by_section(
                    self._searching(with_judge(critic, asked), checker), self.section_chars
                )
                for critic in self.critics
            ),
            retrievers=self.retrievers,
            store=self.store,
            judge=judge,
            asked=asked,
            checker=checker,
            researcher=researcher,
            unaided=unaided,
            breakers=self.breakers,
            monitor=self.monitor,
            connections=self.connections,
        )

    def _searching(self, component: Component, checker: ClaimChecker | None) -> Component:
        return with_checker(component, checker, search=bool(self.adapters))

    def _require_sources(self, *, documents: bool) -> None:
        """See that there is evidence to be found, before anything is paid for.

        Raises:
            ConfigurationError: There is none, or an adapter is unknown.
        """
        found = documents or bool(self.retrievers) or self.inquiry is not None
        for component in (*self.validators, *self.critics):
            for each in searching(component):
                named = each.options.adapters
                if each.options.search and (named or self.adapters or not found):
                    self.adapters.chosen(named)
                elif not found:
                    raise ConfigurationError(
                        f"{each.name!r} may not search, and there are no documents",
                        "give the chain a retriever, or let it search",
                    )

    def _checker(self, model: "JournaledModel | None") -> ClaimChecker | None:
        """What claims are held against evidence with; None when nothing asks for it."""
        if not any(searches(each) for each in (*self.validators, *self.critics)):
            return None
        from sifaka.evidence.claims import EvidenceChecker

        return EvidenceChecker(self.adapters, model)

    def _researchers(
        self, writers: Sequence[Writer]
    ) -> tuple[Researcher | None, Researcher | None]:
        """Who researches, and who does where the model has failed that the caller stands in for."""
        if self.inquiry is None or self.researcher is not None:
            return self.researcher, None
        from sifaka.research.researcher import GraphResearcher

        # What it finds it also writes: that is the writer's to do, whoever judges.
        model = judge_for(None, writers)
        researcher = GraphResearcher(self.inquiry, self.adapters, model)
        if model is None or None not in writers:
            return researcher, None
        return researcher, GraphResearcher(self.inquiry, self.adapters, None)

    def _open(self, host: Host, model: Any, fallbacks: Sequence[Any] = ()) -> "JournaledModel":
        """The model of a name, with those that are asked when it fails; see `provider_model`."""
        opening = provider_model if self.connections is None else self.connections.model
        first, *others = (_asking(host) if m == HOST else m for m in (model, *fallbacks))
        return opening(first, others)

    def _check(self, *, has_judge: bool) -> None:
        try:
            _ = self.config
        except ValidationError as error:
            raise ConfigurationError(explain(error)) from error
        try:
            Started(tags=self.tags)
        except ValidationError as error:
            raise ConfigurationError(explain(error)) from error
        if not 0 <= self.remember <= MOST_REMEMBERED:
            raise ConfigurationError(
                f"remember={self.remember} is not possible",
                f"learn from 0 to {MOST_REMEMBERED} past runs",
            )
        if self.researcher is not None and self.inquiry is None:
            raise ConfigurationError(
                "there is a researcher and nothing to research", "say how with inquiry=Inquiry(...)"
            )
        if CALLER in self.fallback_models[:-1]:
            raise ConfigurationError(
                "`caller` stands in for every model that fails", "name it last in fallback_models"
            )
        if self.policy == "judged" and not has_judge:
            raise ConfigurationError(
                "the policy `judged` needs a model that compares versions",
                "configure one (judge_model, or model=provider:name), or use the policy `best`",
            )
        if self.width > 1 and self.policy not in {"best_of_n", "judged"}:
            raise ConfigurationError(
                f"width={self.width} has no effect with the policy `{self.policy}`",
                "use policy=`best_of_n` or `judged`, or leave width out",
            )

    def _with(self, **changes: Any) -> Self:
        kept = {name: getattr(self, name) for name in _KEPT}
        return type(self)(**{**kept, **self._given, **changes})


def _asking(host: Host) -> "HostModel":
    load_pydantic_ai()
    from sifaka.models.host import HostModel

    return HostModel(host)


_KEPT = (
    "model",
    "validators",
    "retrievers",
    "prompt",
    "effort",
    "max_edit_ratio",
    "protect",
    "patience",
    "critic_deadline",
    "budget",
    "judge_model",
    "fallback_models",
    "store",
    "tags",
    "remember",
    "deps",
    "breakers",
    "monitor",
    "connections",
    "host",
    "plugins",
    "adapters",
    "inquiry",
    "researcher",
    "section_chars",
)
"""Settings that are always what was given; the others are in `_given`."""
