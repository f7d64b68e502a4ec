"""Asking critics about a text."""

from collections.abc import Iterable
from typing import Any, Unpack

from sifaka.chain import Chain, Review, TaskOptions, asks_a_provider
from sifaka.chain.brief import rubric_for, rubrics_of
from sifaka.critics import CriticSpec
from sifaka.errors import ConfigurationError
from sifaka.models import HOST
from sifaka.record.thought import Thought, new_run_id
from sifaka.text.input import check_text


async def critique(
    text: str,
    critics: Iterable[CriticSpec] | None = None,
    *,
    prompt: str = "",
    model: Any = "auto",
    **options: Unpack[TaskOptions],
) -> Review:
    """Ask critics what is wrong with a text; nothing is stored.

    Args:
        text: The text.
        critics: Critics, names or specs. None takes `self_refine` with a model and `lint` without.
        prompt: The task of the text, in words.
        model: The model that critics ask which name none.
        **options: Further options of `Chain`.

    Returns:
        The feedback of each critic, the verdict of their majority and the issues of all of them.
        `rubric` says what to judge the text by when no model judged it.

    Raises:
        ConfigurationError: The text is empty or cannot be used, or a setting is wrong.
    """
    return await review(Chain(model=model, critics=critics, **options), text, prompt)


async def review(
    chain: Chain, text: str, prompt: str = "", *, review_id: str | None = None
) -> Review:
    """Like `critique`, by the critics of a chain.

    Args:
        chain: The chain.
        text: The text.
        prompt: The task of the text, in words.
        review_id: A secret of the caller. Two reviews with the same one ask a model the same
            questions; when None each review makes a new one.

    Raises:
        ConfigurationError: The text is empty or cannot be used, or a model cannot be asked.
    """
    if not check_text(text).strip():
        raise ConfigurationError("the text is empty", "give the text to criticise")
    run_id = review_id or new_run_id()
    thought = Thought(text=text, prompt=check_text(prompt, "prompt"), run_id=run_id)
    found = await chain.critique(thought, frame_key=run_id)
    rubric = None
    if not _is_judged(chain):
        rubric = (*rubrics_of(chain.config.critics), *rubric_for(thought))
    return found.model_copy(update={"rubric": rubric})


def _is_judged(chain: Chain) -> bool:
    """True when a model judges the text, so that the caller need not."""
    model = chain.settings.model
    return chain.resources.host is not None if model == HOST else asks_a_provider(model)
