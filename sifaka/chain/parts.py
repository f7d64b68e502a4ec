"""The parts that work on a run: the components of a chain, bound to their models."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from sifaka._internal.lazy import load_pydantic_ai
from sifaka._internal.naming import did_you_mean
from sifaka.calls.component import Binding, ClaimCheck, models_of
from sifaka.calls.host import Host, Unreachable
from sifaka.chain.configuration import Resources, asks_a_provider
from sifaka.chain.version_comparison import Judge, ModelJudge
from sifaka.critics import CriticComponent, PromptCritic, SectionedCritic
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import Adapters
from sifaka.models import AUTO, CALLER, HOST, Model
from sifaka.models.editor import EditorModel
from sifaka.models.provider import in_background, loaded, provider_model, start_loading
from sifaka.record.entries import ChainConfig
from sifaka.record.thought import EDITOR
from sifaka.research.protocol import Researcher
from sifaka.validators.execution import ValidatorComponent
from sifaka.validators.format import FormatValidator, Syntax

if TYPE_CHECKING:
    from pydantic_ai import Agent

    from sifaka.evidence.claims.checker import EvidenceChecker
    from sifaka.models.journaled import JournaledModel

Writer = Model | None
"""A model, or None: the calling agent, for whom the run waits."""
_NO_HOST = Unreachable("the host's model cannot be asked: the client offers no sampling")
_HANDED_OVER = Unreachable("the host's model is not asked any more: the caller has taken over")

_READ_AS: Mapping[Syntax, str] = {
    "html": "html",
    **dict.fromkeys(("csv", "json", "toml", "xml"), "data"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The components of a chain, bound, and the resources that they work with."""

    resources: Resources
    writers: tuple[Writer, ...]
    """In the order in which they are tried."""
    validators: tuple[ValidatorComponent, ...]
    critics: tuple[CriticComponent, ...]
    editor: EditorModel | None
    """Edits the input and each version of a model, where the run is edited."""
    judge: Judge | None
    """Compares versions; None where nothing is compared."""
    judge_model: "JournaledModel | None"
    """The model for critics and checkers that name none; None without one."""
    checker: "EvidenceChecker | None" = None
    """Checks claims against evidence, for the validators and critics that do."""
    researcher: Researcher | None = None
    """Makes the first version, where that is researched."""
    fallback_researcher: Researcher | None = None
    """Makes it without a model when that has failed and the caller is to write then."""

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[None]:
        """Keep the providers' clients open, and close those that are this run's own at the end."""
        models = [m for part in (*self.writers, *self.critics) for m in models_of(part)]
        connections = self.resources.connections
        async with AsyncExitStack() as stack:
            for model in {id(model): model for model in (*models, self.judge_model)}.values():
                if connections is not None and connections.holds(model):
                    await connections.open(model)
                elif isinstance(model, AbstractAsyncContextManager):
                    await stack.enter_async_context(cast("AbstractAsyncContextManager[Any]", model))
            yield


async def build_parts(
    config: ChainConfig,
    resources: Resources,
    *,
    without_host: bool = False,
    documents: bool = False,
) -> Parts:
    """The parts of a chain with the models and the checker that they need.

    The event loop is free while the clients of models are loaded.

    Args:
        config: The chain.
        resources: Its resources.
        without_host: True when the host is not to be asked, although it could be.
        documents: True when documents are at hand, besides those that are found.

    Raises:
        ConfigurationError: A model is unknown or cannot be used, or claims are to be checked
            against evidence, and there is no place to find any.
    """
    named = (resources.model, resources.judge_model, *resources.fallback_models)
    models = [model for model in named if model is not None and asks_a_provider(model)]
    if models:
        await _load_models(models, edits=config.inquiry is None and config.fixes != "none")
    host = _HANDED_OVER if without_host else resources.host or _NO_HOST
    opening = partial(_open_model, resources, host)
    writers = writers_for(resources, opening)
    # The model that critics ask when they name none: the judge, else the writer's.
    judge_model, judge = None, resources.judge_model
    if judge is not None and not isinstance(judge, Judge):
        judge_model = opening(judge, resources.fallback_models)
    elif models:
        judge_model = _model_of(writers)
    components = (*resources.validators, *resources.critics)
    checks = [check for component in components for check in component.claim_checks]
    has_source = documents or bool(resources.retrievers) or config.inquiry is not None
    checker, binding = None, Binding(model=judge_model)
    if checks:
        checker = _build_checker(checks, resources.adapters, judge_model, has_source=has_source)
        binding = Binding(model=judge_model, checker=checker, search=bool(resources.adapters))
    researcher, fallback = resources.researcher, None
    if config.inquiry is not None and researcher is None:
        from sifaka.research.researcher import GraphResearcher

        # It writes from what it finds: that is the writer's to do. Another judge says when to stop.
        model, research = _model_of(writers), partial(GraphResearcher, config.inquiry)
        researcher = research(resources.adapters, model, judge=judge_model)
        if model is not None and None in writers:
            fallback = research(resources.adapters, None)
    return bind_parts(
        config,
        resources,
        writers,
        binding,
        checker=checker,
        researcher=researcher,
        fallback_researcher=fallback,
    )


def bind_parts(
    config: ChainConfig,
    resources: Resources,
    writers: Sequence[Writer],
    binding: Binding,
    **others: Any,
) -> Parts:
    """The parts of a run or of a replay: every component with what the binding offers.

    Args:
        config: The chain.
        resources: Its resources.
        writers: The writers, in the order in which they are tried.
        binding: The binding of the validators and the critics.
        **others: Further parts.

    Raises:
        ConfigurationError: A critic needs a model and there is none, or its own cannot be used.
    """
    judge: Judge | None = None
    if config.policy == "judged" or config.look_back:
        own = resources.judge_model
        judge = own if isinstance(own, Judge) else ModelJudge(binding.model)
    # Where no model is, the caller judges by its own rubric.
    by_caller = config.model in {AUTO, CALLER} and config.judge_model is None
    # What the editor reads the text as by the format that a validator checks. YAML may be the front
    # matter of a page, and Markdown may be MDX: those are recognised by their look.
    checked = (
        _READ_AS.get(v.format) for v in resources.validators if isinstance(v, FormatValidator)
    )
    format = next(filter(None, checked), config.format)
    binding = replace(binding, rules=config.lint_rules, format=format)
    critics = [
        each.bind(binding)
        for each in resources.critics
        if not (by_caller and isinstance(each, PromptCritic) and each.model is None)
    ]
    if (chars := config.section_chars) is not None:
        critics = [SectionedCritic(each, chars) if each.models else each for each in critics]
    editor = None
    if config.inquiry is None:  # what a report of research quotes was written by others
        editor = EditorModel(resources.validators, config.fixes, format, config.lint_rules)
    return Parts(
        resources=resources,
        writers=tuple(writers),
        validators=tuple(each.bind(binding) for each in resources.validators),
        critics=tuple(critics),
        editor=editor,
        judge=judge,
        judge_model=binding.model,
        **others,
    )


def _build_checker(
    checks: Sequence[ClaimCheck],
    adapters: Adapters,
    model: "JournaledModel | None",
    *,
    has_source: bool,
) -> "EvidenceChecker":
    """The checker of claims.

    Args:
        checks: The checks that components make.
        adapters: Where documents are searched.
        model: Compares claims with documents.
        has_source: True when documents come with the text or are found for it.

    Raises:
        ConfigurationError: There is no evidence to be found, or an adapter is unknown: that is
            reported before anything is paid for.
    """
    for name, options in checks:
        if options.search and (options.adapters or adapters or not has_source):
            adapters.chosen(options.adapters)
        elif not has_source:
            raise ConfigurationError(
                f"{name!r} may not search, and there are no documents",
                "give the chain a retriever, or let it search",
            )
    from sifaka.evidence.claims.checker import EvidenceChecker

    return EvidenceChecker(adapters, model)


def writers_for(
    resources: Resources, opening: Callable[[Any, Sequence[Any]], Any] = provider_model
) -> tuple[Writer, ...]:
    """The writers in the order in which they are tried; none where only the editor works.

    Args:
        resources: Those of the chain.
        opening: Makes a model of its name and the names of its fallbacks.

    Raises:
        ConfigurationError: The model is unknown or cannot be used.
    """
    model, fallbacks = resources.model, resources.fallback_models
    if isinstance(model, str):
        if not asks_a_provider(model):
            return () if model == EDITOR else (None,)
        if ":" not in model and model not in {HOST, "test"}:
            raise ConfigurationError(
                f"unknown model {model!r}",
                f"{did_you_mean(model, (AUTO, EDITOR, CALLER, HOST))}, or provider:name such as "
                "openai:gpt-5",
            )
    last: tuple[Writer, ...] = (None,) if CALLER in fallbacks else ()
    if isinstance(model, Model):
        return (model, *last)
    load_pydantic_ai()
    from pydantic_ai import Agent
    from pydantic_ai.models import Model as PydanticModel

    from sifaka.models.agent import AgentModel, DirectModel

    if isinstance(model, Agent):
        agent = cast("Agent[Any, Any]", model)
        writer = AgentModel(
            agent,
            _without_caller(fallbacks),
            deps=resources.deps,
            message_history=resources.message_history,
        )
        return (writer, *last)
    if isinstance(model, str | PydanticModel):
        return (DirectModel(opening(model, fallbacks)), *last)
    raise ConfigurationError(
        f"a {type(model).__name__} is not a model",
        "pass a model string, a PydanticAI Agent or model, or an object with generate_with_thought",
    )


def _without_caller(fallbacks: Sequence[Any]) -> Sequence[Any]:
    """Those that can be asked, which the calling agent cannot."""
    return [each for each in fallbacks if each != CALLER]


def _model_of(writers: Sequence[Writer]) -> "JournaledModel | None":
    """The model with which the first writer writes that has one."""
    return next((model for writer in writers for model in models_of(writer)), None)


def _open_model(
    resources: Resources, host: Host, model: Any, fallbacks: Sequence[Any] = ()
) -> "JournaledModel":
    """The model of a name, with those that are asked when it fails; see `provider_model`."""
    load_pydantic_ai()
    from sifaka.models.host import HostModel

    opening = provider_model if resources.connections is None else resources.connections.model
    models = (model, *_without_caller(fallbacks))
    first, *others = (HostModel(host) if m == HOST else m for m in models)
    return opening(first, others)


async def _load_models(models: Sequence[object], *, edits: bool) -> None:
    """Load the clients of models, and begin to load the editor meanwhile."""
    loadings = [loading for model in models if (loading := start_loading(model)) is not None]
    if all(loading.done() for loading in loadings):
        return
    if edits:
        in_background("the editor", _load_editor)  # and the process that checks grammar
    await loaded(*models)


def _load_editor() -> None:
    from sifaka.editor import lint

    lint("A text.")
