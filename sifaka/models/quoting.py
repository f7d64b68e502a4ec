"""What a call may take at most, told before it is made."""

import json
import math
from typing import TYPE_CHECKING

from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.usage import RequestUsage

from sifaka.budget import Budget, Quote

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.settings import ModelSettings

_BYTES_PER_TOKEN = 3
"""Fewer than in any common language and tokenizer, so that the estimate errs to the safe side."""
_LONGEST_ANSWER = 4096
"""Tokens set aside for an answer without `max_tokens`; twice the question's where that is more."""
_MILLION = 1_000_000


def quote(
    model: Model,
    messages: "list[ModelMessage]",
    settings: "ModelSettings | None",
    parameters: ModelRequestParameters,
    budget: Budget,
) -> Quote:
    """The quote for one call; nothing is estimated that the budget does not limit.

    Tokens of the question are estimated from its bytes, the answer from `max_tokens` or the
    question's length; prices come from genai-prices.
    """
    if budget.max_tokens is None and budget.max_cost_usd is None:
        return Quote()
    size = len(ModelMessagesTypeAdapter.dump_json(messages)) + sum(
        len(json.dumps(tool.parameters_json_schema)) for tool in parameters.output_tools
    )
    asked = math.ceil(size / _BYTES_PER_TOKEN)
    answer = (settings or {}).get("max_tokens") or max(_LONGEST_ANSWER, 2 * asked)
    if budget.max_cost_usd is None:
        return Quote(input_tokens=asked, output_tokens=answer)
    input_cost, output_cost = _price(model, asked)
    return Quote(
        input_tokens=asked,
        output_tokens=answer,
        input_cost=input_cost,
        output_cost=output_cost,
    )


def _price(model: Model, input_tokens: int) -> tuple[float | None, float]:
    """US dollars for the question, None when unknown, and for each token of the answer."""

    def dollars(usage: RequestUsage) -> float:
        answer = ModelResponse(
            parts=[],
            usage=usage,
            model_name=model.model_name,
            provider_name=model.system,
            provider_url=model.base_url,
        )
        return float(answer.cost().total_price)

    try:
        return (
            dollars(RequestUsage(input_tokens=input_tokens)),
            dollars(RequestUsage(output_tokens=_MILLION)) / _MILLION,
        )
    except (LookupError, ValueError, AssertionError):
        return None, 0.0
