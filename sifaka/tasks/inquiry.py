"""Researching a question."""

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from sifaka.chain import Chain, Listener, RunResult, TaskOptions, asks_a_provider
from sifaka.critics import CriticSpec
from sifaka.errors import ConfigurationError
from sifaka.models import AUTO, CALLER, HOST
from sifaka.record.research_question import Inquiry
from sifaka.record.thought import EDITOR
from sifaka.record.usage import Budget
from sifaka.validators import Validator

MOST_SECTIONS = 12
MOST_ITERATIONS = 20


async def research(
    question: str,
    *,
    inquiry: Inquiry | None = None,
    validators: Iterable[Validator | Mapping[str, object]] = (),
    critics: Iterable[CriticSpec] | None = None,
    model: Any = AUTO,
    listen: Listener | None = None,
    **options: Unpack[TaskOptions],
) -> RunResult:
    """Answer a question with a report that cites the sources it was written from.

    Args:
        question: The question.
        inquiry: The kind of research and its limits.
        validators: Further validators of the report: it has to be complete, and its claims are
            checked against the documents it was written from.
        critics: Critics, names or specs. None takes `self_refine` with a model and `lint` without.
        model: The writer. Without a model the calling agent writes.
        listen: Receives each event as it happens.
        **options: Further options of `Chain`, such as `adapters`.

    Raises:
        ConfigurationError: The question is empty, there is nothing to search, the model cannot
            research, or a setting is wrong.
        StorageError: The store failed.
    """
    chain = Chain(model=model, critics=critics, inquiry=inquiry or Inquiry(), **options)
    chain = ready_to_research(chain, question, *validators, is_chosen=model != AUTO)
    return await chain.run(question, listen=listen)


def ready_to_research(
    chain: Chain,
    question: str,
    *validators: Validator | Mapping[str, object],
    is_chosen: bool = True,
) -> Chain:
    """A chain with an inquiry, with the validators that every report has to pass.

    With a model a contradicted claim has to be mended; without one the verdicts are advice. The
    caller writes where the host's model cannot be asked, and where the editor was configured but
    not chosen for this question.

    Args:
        chain: The chain.
        question: The question.
        *validators: Further validators of the report.
        is_chosen: True when the model was chosen for this question, rather than configured.

    Raises:
        ConfigurationError: The question is empty, the model cannot research, or the budget leaves
            no call to a model.
    """
    if not question.strip():
        raise ConfigurationError("the question is empty", "say what is to be found out")
    from sifaka.evidence.pipeline import checked_question

    checked_question(question)  # before a run is made of it
    model = chain.config.model
    if model == EDITOR and is_chosen:
        raise ConfigurationError(
            "the editor cannot research a question", "use model=caller or provider:name"
        )
    if model == EDITOR or (model == HOST and chain.resources.host is None):
        chain = chain.with_model(CALLER)
    config = chain.config
    has_model = asks_a_provider(config.model)
    if has_model:
        _check_room("budget", config.budget)
        _check_room("section_budget", config.inquiry and config.inquiry.section_budget)
    evidence = {"type": "evidence", "search": False, "required": has_model}
    return chain.validate_with({"type": "report"}, *validators, evidence)


def _check_room(name: str, budget: Budget | None) -> None:
    for limit in ("max_calls", "max_tokens", "max_cost_usd"):
        if budget is not None and getattr(budget, limit) == 0:
            raise ConfigurationError(
                f"{name}.{limit}=0 leaves no call to a model",
                "raise it, or use model=caller, which takes none",
            )
