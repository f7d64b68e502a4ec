"""The writers of the next version: the ladder from a model to the caller."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from sifaka._internal.lazy import load_pydantic_ai
from sifaka._internal.naming import did_you_mean
from sifaka.calls.component import models_of
from sifaka.chain.configuration import asks_a_provider
from sifaka.chain.resources import Resources
from sifaka.errors import ConfigurationError
from sifaka.models import AUTO, CALLER, HOST, Model
from sifaka.models.provider import provider_model
from sifaka.record.thought import EDITOR

if TYPE_CHECKING:
    from pydantic_ai import Agent

    from sifaka.models.journaled import JournaledModel

Writer = Model | None
"""A model, or None: the calling agent, for whom the run waits."""
Opening = Callable[[Any, Sequence[Any]], "JournaledModel"]
"""Makes a model of its name and the names of its fallbacks."""


def writers_for(resources: Resources, opening: Opening = provider_model) -> tuple[Writer, ...]:
    """The writers in the order in which they are tried; none where only the editor works.

    Args:
        resources: Those of the chain.
        opening: Makes a model of its name.

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
        writer = model
    else:
        writer = _of_pydantic_ai(model, models_among(fallbacks), resources.deps, opening)
    return (writer, *last)


def models_among(fallbacks: Sequence[Any]) -> Sequence[Any]:
    """Those that can be asked, which the calling agent cannot."""
    return [each for each in fallbacks if each != CALLER]


def judge_for(
    judge_model: object,
    writers: Sequence[Writer],
    *,
    fallbacks: Sequence[Any] = (),
    opening: Opening = provider_model,
) -> "JournaledModel | None":
    """The model that critics ask when they name none: the judge, else the writer's, else None.

    Raises:
        ConfigurationError: The judge's model is unknown or cannot be used.
    """
    if judge_model is not None:
        return opening(judge_model, models_among(fallbacks))
    return next((model for writer in writers for model in models_of(writer)), None)


def _of_pydantic_ai(model: object, fallbacks: Sequence[Any], deps: Any, opening: Opening) -> Model:
    load_pydantic_ai()
    from pydantic_ai import Agent
    from pydantic_ai.models import Model as PydanticModel

    from sifaka.models.agent import AgentModel, DirectModel

    if isinstance(model, Agent):
        return AgentModel.of_agent(cast("Agent[Any, Any]", model), fallbacks, deps=deps)
    if isinstance(model, str | PydanticModel):
        return DirectModel(opening(cast("Any", model), fallbacks))
    raise ConfigurationError(
        f"a {type(model).__name__} is not a model",
        "pass a model string, a PydanticAI Agent or model, or an object with generate_with_thought",
    )
