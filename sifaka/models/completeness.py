"""The check that an answer is a complete text."""

from typing import TYPE_CHECKING

from sifaka.errors import ModelProviderError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse


def complete_text(text: str, response: "ModelResponse", model: str) -> str:
    """The text of an answer.

    Raises:
        ModelProviderError: The answer was cut off, with code `output_limit`, or `empty`.
    """
    provider = model.partition(":")[0]
    if response.finish_reason == "length":
        raise ModelProviderError(
            f"{model}: the answer was cut off at the model's output limit",
            "raise max_tokens in the model's settings, or shorten the text",
            provider=provider,
            code="output_limit",
        )
    if not text.strip():
        raise ModelProviderError(
            f"{model}: the answer was empty",
            "try again or choose another model",
            provider=provider,
            code="empty",
        )
    return text
