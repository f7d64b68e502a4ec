"""PydanticAI models from their names."""

from typing import TYPE_CHECKING, Any, cast

from sifaka.errors import ConfigurationError
from sifaka.models.metered import CALL_TIMEOUT, MeteredModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model


def provider_model(model: "Model | str", *, call_timeout: float = CALL_TIMEOUT) -> MeteredModel:
    """The model of a name such as `openai:gpt-5`, metered.

    Raises:
        ConfigurationError: The name is unknown, or the provider's package or key is missing.
    """
    if isinstance(model, MeteredModel):
        return model
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    from sifaka.models.failures import translate

    try:
        inferred = infer_model(model)
    except UserError as error:
        raise translate(error, str(model)) from error
    except ImportError as error:
        provider = str(model).partition(":")[0]
        raise ConfigurationError(
            f"model {model!r} needs a package that is not installed",
            f"pip install 'sifaka-mcp[{provider}]'",
        ) from error
    if isinstance(model, str):
        _leave_retries_to_us(inferred)
    return MeteredModel(inferred, call_timeout=call_timeout)


def _leave_retries_to_us(model: "Model") -> None:
    # The SDK clients of OpenAI and Anthropic retry twice on their own, unseen by the budget.
    client = cast("Any", getattr(model, "client", None))
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0
