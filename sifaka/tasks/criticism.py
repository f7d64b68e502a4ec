"""Asking critics about a text."""

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from sifaka.chain import Chain, Review, TaskOptions, asks_a_provider
from sifaka.chain.brief import rubric_for, rubrics_of
from sifaka.chain.findings import findings_of
from sifaka.chain.parts import build_parts
from sifaka.critics import CriticSpec, StyleCritic
from sifaka.critics.execution import run_critics
from sifaka.errors import ConfigurationError
from sifaka.models import HOST
from sifaka.models.prompt import with_original
from sifaka.record.entries import Drafted, Started
from sifaka.record.results import covered_in
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought, new_run_id
from sifaka.text.input import check_text


async def critique(
    text: str,
    critics: Iterable[CriticSpec] | None = None,
    *,
    prompt: str = "",
    original: str = "",
    documents: Sequence[Document] = (),
    model: Any = "auto",
    **options: Unpack[TaskOptions],
) -> Review:
    """Ask critics what is wrong with a text; nothing is stored.

    Args:
        text: The text.
        critics: Critics, names or specs. None takes `self_refine` with a model, and `lint` and
            `style` without.
        prompt: The task of the text, in words.
        original: The text that it is a revision of: critics see it, and what differs.
        documents: The sources that it may take facts from.
        model: The model that critics ask which name none.
        **options: Further options of `Chain`.

    Returns:
        The feedback of each critic, the verdict of their majority and the issues of all of them.
        `rubric` says what to judge the text by when no model judged it.

    Raises:
        ConfigurationError: The text is empty or cannot be used, or a setting is wrong.
    """
    chain = Chain(model=model, critics=critics, **options)
    return await review(chain, text, prompt, original=original, documents=documents)


async def review(
    chain: Chain,
    text: str,
    prompt: str = "",
    *,
    original: str = "",
    documents: Sequence[Document] = (),
    review_id: str | None = None,
) -> Review:
    """Like `critique`, by the critics of a chain.

    Args:
        chain: The chain.
        text: The text.
        prompt: The task of the text, in words.
        original: As for `critique`.
        documents: As for `critique`.
        review_id: A secret of the caller. Two reviews with the same one ask a model the same
            questions; when None each review makes a new one.

    Raises:
        ConfigurationError: The text is empty or cannot be used, or a model cannot be asked.
    """
    if not check_text(text).strip():
        raise ConfigurationError("the text is empty", "give the text to criticise")
    if chain.options.get("critics") is None and not _is_judged(chain):
        chain = chain.improve_with(*chain.resources.critics, StyleCritic())
    run_id = review_id or new_run_id()
    fields: dict[str, Any] = {
        "prompt": check_text(prompt, "prompt"),
        "run_id": run_id,
        "pre_generation_context": tuple(documents),
    }
    run = Run.start(Started(run_id=run_id, prompt=prompt, config=chain.config))
    if check_text(original, "original").strip():
        run = run.apply(Drafted(thought=Thought(text=original, author="input", **fields)))
    thought = Thought(text=text, **fields)
    findings = await findings_of(run, thought)
    thought = with_original(thought.model_copy(update={"findings": findings}), run.original)
    parts = await build_parts(chain.config, chain.resources, documents=bool(documents))
    calls = chain.resources.calls(chain.config.budget, run_id)
    async with parts.connected():
        deadline = chain.config.critic_deadline
        feedback = await run_critics(parts.critics, thought, calls, deadline=deadline)
    for each in feedback:
        findings = findings.covered(covered_in([each]), each.critic)
    rubric = None
    if not _is_judged(chain):
        rubric = (*rubrics_of(chain.config.critics), *rubric_for(thought))
    return Review(
        feedback=feedback,
        usage=calls.ledger.spent,
        rubric=rubric,
        differences=findings.differences,
    )


def _is_judged(chain: Chain) -> bool:
    """True when a model judges the text, so that the caller need not."""
    model = chain.resources.model
    return chain.resources.host is not None if model == HOST else asks_a_provider(model)
