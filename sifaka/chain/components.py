"""The components of a chain: loaded once in a process, bound for each run."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sifaka._internal.lazy import load_pydantic_ai
from sifaka.calls.component import Binding, ClaimCheck
from sifaka.calls.host import Host, Unreachable
from sifaka.chain.judging import Judge, ModelJudge
from sifaka.chain.resources import Parts, Resources
from sifaka.chain.settings import ChainSettings
from sifaka.chain.writers import Writer, asks_a_provider, judge_for, writers_for
from sifaka.critics import PromptCritic, SectionedCritic
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import Adapters
from sifaka.models import AUTO, CALLER, HOST
from sifaka.models.editor import EditorModel
from sifaka.models.provider import in_background, loaded, provider_model, start_loading
from sifaka.record.inquiry import Inquiry
from sifaka.research.protocol import Researcher

if TYPE_CHECKING:
    from sifaka.evidence.claims import EvidenceChecker
    from sifaka.models.host import HostModel
    from sifaka.models.journaled import JournaledModel

_NO_HOST = Unreachable("the host's model cannot be asked: the client offers no sampling")
_HANDED_OVER = Unreachable("the host's model is not asked any more: the caller has taken over")


async def parts_of(
    settings: ChainSettings,
    resources: Resources,
    *,
    without_host: bool = False,
    documents: bool = False,
) -> Parts:
    """The components of a chain with the models and the checker that they need.

    The event loop is free while the clients of models are loaded.

    Args:
        settings: The chain.
        resources: The resources it works with.
        without_host: True when the host is not to be asked, although it could be.
        documents: True when documents are at hand, besides those that are found.

    Raises:
        ConfigurationError: A model is unknown or cannot be used, or claims are to be checked
            against evidence, and there is no place to find any.
    """
    named = (settings.model, settings.judge_model, *settings.fallback_models)
    models = [model for model in named if model is not None and asks_a_provider(model)]
    if models:
        await _load(models, edits=settings.edits)
    host = _HANDED_OVER if without_host else resources.host or _NO_HOST
    opening = partial(_open, resources, host)
    writers = writers_for(
        settings.model,
        settings.validators,
        fallbacks=settings.fallback_models,
        deps=resources.deps,
        opening=opening,
        edits=settings.edits,
        section_chars=settings.section_chars,
        protect=settings.protect,
        fixes=settings.fixes,
        format=settings.format,
    )
    asked = None
    if models or settings.judge_model is not None:
        asked = judge_for(
            None if isinstance(settings.judge_model, Judge) else settings.judge_model,
            writers,
            fallbacks=settings.fallback_models,
            opening=opening,
        )
    components = (*settings.validators, *settings.chosen_critics)
    checks = [check for component in components for check in component.claim_checks]
    found = documents or bool(settings.retrievers) or settings.inquiry is not None
    checker, binding = None, Binding(model=asked)
    if checks:
        checker = _checker(checks, resources.adapters, asked, found=found)
        binding = Binding(model=asked, checker=checker, search=bool(resources.adapters))
    researcher, unaided = resources.researcher, None
    if settings.inquiry is not None and researcher is None:
        researcher, unaided = _researchers(settings.inquiry, resources.adapters, writers, asked)
    return bound(
        settings,
        resources,
        writers,
        binding,
        checker=checker,
        researcher=researcher,
        unaided=unaided,
    )


def bound(
    settings: ChainSettings,
    resources: Resources,
    writers: Sequence[Writer],
    binding: Binding,
    **others: Any,
) -> Parts:
    """The parts of a run or of a replay: every component with what the binding offers.

    Args:
        settings: The chain.
        resources: The resources it works with.
        writers: The writers, in the order in which they are tried.
        binding: The binding of the validators and the critics.
        **others: Further parts.

    Raises:
        ConfigurationError: A critic needs a model and there is none, or its own cannot be used.
    """
    judge: Judge | None = None
    if settings.config.policy == "judged" or settings.config.look_back:
        own = settings.judge_model
        judge = own if isinstance(own, Judge) else ModelJudge(binding.model)
    # Where no model is, the caller judges by its own rubric.
    by_caller = settings.model in (AUTO, CALLER) and settings.judge_model is None
    critics = [
        each.bind(binding)
        for each in settings.chosen_critics
        if not (by_caller and isinstance(each, PromptCritic) and each.model is None)
    ]
    if (chars := settings.section_chars) is not None:
        critics = [SectionedCritic(each, chars) if each.models else each for each in critics]
    return Parts(
        writers=tuple(writers),
        validators=tuple(each.bind(binding) for each in settings.validators),
        critics=tuple(critics),
        retrievers=settings.retrievers,
        store=resources.store,
        editor=EditorModel(settings.validators, settings.fixes, settings.format)
        if settings.edits
        else None,
        judge=judge,
        asked=binding.model,
        breakers=resources.breakers,
        monitor=resources.monitor,
        connections=resources.connections,
        **others,
    )


def _checker(
    checks: Sequence[ClaimCheck],
    adapters: Adapters,
    model: "JournaledModel | None",
    *,
    found: bool,
) -> "EvidenceChecker":
    """The checker of claims.

    Args:
        checks: The checks that components make.
        adapters: Where documents are searched.
        model: Compares claims with documents.
        found: True when documents come with the text or are found for it.

    Raises:
        ConfigurationError: There is no evidence to be found, or an adapter is unknown: that is
            told before anything is paid for.
    """
    for name, options in checks:
        if options.search and (options.adapters or adapters or not found):
            adapters.chosen(options.adapters)
        elif not found:
            raise ConfigurationError(
                f"{name!r} may not search, and there are no documents",
                "give the chain a retriever, or let it search",
            )
    from sifaka.evidence.claims import EvidenceChecker

    return EvidenceChecker(adapters, model)


def _researchers(
    inquiry: Inquiry,
    adapters: Adapters,
    writers: Sequence[Writer],
    judge: "JournaledModel | None",
) -> tuple[Researcher, Researcher | None]:
    """The researcher, and the one without a model where the caller stands in for a failed one."""
    from sifaka.research.researcher import GraphResearcher

    # It writes from what it finds: that is the writer's to do. Another judge says when to stop.
    model = judge_for(None, writers)
    researcher = GraphResearcher(inquiry, adapters, model, judge=judge)
    if model is None or None not in writers:
        return researcher, None
    return researcher, GraphResearcher(inquiry, adapters, None)


def _open(
    resources: Resources, host: Host, model: Any, fallbacks: Sequence[Any] = ()
) -> "JournaledModel":
    """The model of a name, with those that are asked when it fails; see `provider_model`."""
    opening = provider_model if resources.connections is None else resources.connections.model
    first, *others = (_asking(host) if m == HOST else m for m in (model, *fallbacks))
    return opening(first, others)


def _asking(host: Host) -> "HostModel":
    load_pydantic_ai()
    from sifaka.models.host import HostModel

    return HostModel(host)


async def _load(models: Sequence[object], *, edits: bool) -> None:
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
