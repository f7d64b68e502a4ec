"""The most that a call may take, estimated before it is made."""

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic_ai.messages import BaseToolCallPart, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.usage import RequestUsage

from sifaka.calls.ledger import Quote
from sifaka.record.usage import Budget

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.settings import ModelSettings

_BYTES_PER_TOKEN = 3
"""Fewer than in any common language and tokenizer, so that the estimate errs to the safe side."""
_ANSWER = 4096
"""Tokens set aside for an answer at least, where nothing says how long it may be."""
_LONGEST_ANSWER = 32_768
_SHARE = 8
"""The part of a budget's tokens that is set aside for one answer, where that is more: reasoning may
take many, and a budget that has them should not cut it off."""
_MILLION = 1_000_000
ESTIMATED = "sifaka_estimated"
"""The key of an answer's metadata that says so of its usage."""


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
    asked = _tokens(messages, parameters)
    input_cost, output_cost = 0.0, 0.0
    if budget.max_cost_usd is not None:
        input_cost, output_cost = _price(model, asked)
    return Quote(
        input_tokens=asked,
        output_tokens=asked_for(model, settings) or _longest(asked, output_cost, budget),
        input_cost=input_cost,
        output_cost=output_cost,
    )


def with_usage(
    response: ModelResponse, messages: "list[ModelMessage]", parameters: ModelRequestParameters
) -> ModelResponse:
    """The same answer, with an estimate where its provider has not reported the tokens."""
    usage = response.usage
    if usage.input_tokens and usage.output_tokens:
        return response
    estimated = replace(
        usage,
        input_tokens=usage.input_tokens or _tokens(messages, parameters),
        output_tokens=usage.output_tokens or _answered(response),
    )
    metadata = {**(response.metadata or {}), ESTIMATED: True}
    return replace(response, usage=estimated, metadata=metadata)


def _tokens(messages: "list[ModelMessage]", parameters: ModelRequestParameters) -> int:
    """The tokens of messages and of the tools beside them, at most."""
    tools = (*parameters.function_tools, *parameters.output_tools)
    size = len(ModelMessagesTypeAdapter.dump_json(messages)) + sum(
        len(json.dumps(tool.parameters_json_schema)) for tool in tools
    )
    return math.ceil(size / _BYTES_PER_TOKEN)


def _answered(response: ModelResponse) -> int:
    """The tokens of an answer's words, at most."""
    said = (
        part.args_as_json_str()
        if isinstance(part, BaseToolCallPart)
        else getattr(part, "content", "")
        for part in response.parts
    )
    return math.ceil(
        sum(len(str(words).encode("utf-8", "replace")) for words in said) / _BYTES_PER_TOKEN
    )


def asked_for(model: Model, settings: "ModelSettings | None") -> int | None:
    """The longest answer that the model's settings or the request's ask for, if they do."""
    return (settings or {}).get("max_tokens") or (model.settings or {}).get("max_tokens")


def _longest(asked: int, output_cost: float, budget: Budget) -> int:
    """The tokens to set aside for an answer without a limit."""
    affordable = [budget.max_tokens] if budget.max_tokens is not None else []
    if budget.max_cost_usd is not None and output_cost:
        affordable.append(int(budget.max_cost_usd / output_cost))
    share = min(affordable, default=0) // _SHARE
    return max(_ANSWER, 2 * asked, min(share, _LONGEST_ANSWER))


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
