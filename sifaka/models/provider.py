"""PydanticAI models from their names."""

from typing import TYPE_CHECKING, Any, cast

from sifaka.errors import ConfigurationError
from sifaka.models.loading import load_pydantic_ai

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from sifaka.models.metered import MeteredModel


def provider_model(
    model: "Model[Any] | str", *, call_timeout: float | None = None
) -> "MeteredModel":
    """The model of a name such as `openai:gpt-5`, metered.

    Args:
        model: A name, or a PydanticAI model.
        call_timeout: Seconds that one call may take; `CALL_TIMEOUT` when None.

    Raises:
        ConfigurationError: The name is unknown, or the provider's package or key is missing.
    """
    load_pydantic_ai()
    from sifaka.models.metered import CALL_TIMEOUT, MeteredModel

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
    return MeteredModel(inferred, call_timeout=call_timeout or CALL_TIMEOUT)


def _leave_retries_to_us(model: "Model[Any]") -> None:
    # The SDK clients of OpenAI and Anthropic retry twice on their own, unseen by the budget.
    client = cast("Any", getattr(model, "client", None))
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0
