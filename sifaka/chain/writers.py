"""The writers of the next version: the ladder from the editor over a model to the caller."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from sifaka._internal.lazy import load_pydantic_ai
from sifaka._internal.naming import did_you_mean
from sifaka.calls.component import models_of
from sifaka.errors import ConfigurationError
from sifaka.models import AUTO, CALLER, HOST, Model
from sifaka.models.editor import EditorModel
from sifaka.models.provider import provider_model
from sifaka.models.sectioned import SectionedModel
from sifaka.record.entries import Fixes
from sifaka.record.thought import EDITOR
from sifaka.validators.protocol import ValidatorComponent

if TYPE_CHECKING:
    from pydantic_ai import Agent

    from sifaka.models.journaled import JournaledModel

Writer = Model | None
"""A model, or None: the calling agent, for whom the run waits."""
Opening = Callable[[Any, Sequence[Any]], "JournaledModel"]
"""Makes a model of its name and the names of its fallbacks."""


def model_name(model: object) -> str:
    """The name of a model in a run's recorded configuration.

    A string stands for itself. An object cannot be built again from a record, so its name is one
    that no string can be mistaken for.
    """
    if isinstance(model, str):
        return model
    name = getattr(model, "name", None) or getattr(model, "model_id", None)
    return f"object:{name or type(model).__name__}"


def asks_a_provider(model: object) -> bool:
    """True when this choice of a model is one that answers by itself."""
    return not isinstance(model, str) or model not in {AUTO, EDITOR, CALLER}


def writers_for(
    model: object,
    validators: Sequence[ValidatorComponent],
    *,
    fallbacks: Sequence[Any] = (),
    deps: Any = None,
    opening: Opening = provider_model,
    edits: bool = True,
    section_chars: int | None = None,
    protect: bool = True,
    fixes: Fixes | None = "safe",
    format: str | None = None,
) -> tuple[Writer, ...]:
    """The writers in the order in which they are tried.

    Args:
        model: The choice of a model.
        validators: The validators that the editor's versions are to pass.
        fallbacks: Models that are asked when the first one has failed for good.
        deps: The dependencies of a PydanticAI agent's tools.
        opening: Makes a model of its name.
        edits: True when the editor is tried before the caller. It is not where the text quotes
            sources: their words are to stay as they are.
        section_chars: Characters beyond which a model works on a text in sections; None means
            never. The editor and the caller take it whole.
        protect: As for `SectionedModel`.
        fixes: The fixes that the editor makes.
        format: The format that the editor reads the text as; recognised by its look when None.

    Raises:
        ConfigurationError: The model is unknown or cannot be used.
    """
    if isinstance(model, str):
        if model == EDITOR:
            return (EditorModel(validators, fixes, format),)
        if model in {AUTO, CALLER} and not edits:
            return (None,)
        if model == AUTO:
            return (EditorModel(validators, fixes, format), None)
        if model == CALLER:
            return (EditorModel(fixes=fixes, format=format), None)
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
        writer = _of_pydantic_ai(model, models_among(fallbacks), deps, opening)
    if section_chars is not None:
        writer = SectionedModel(writer, section_chars, protect=protect)
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
