"""The one place every model call passes: reserved, bounded in time, retried, settled."""

import json
import logging
import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelConnectionError,
    ModelHTTPError,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.messages import BaseToolCallPart, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings, merge_model_settings
from pydantic_ai.usage import RequestUsage

from sifaka.calls.context import Calls, current_calls
from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Suspended
from sifaka.calls.ledger import Quote, current_allowance, stricter
from sifaka.calls.monitoring import annotate, answered, asked
from sifaka.errors import BudgetExceeded, ModelProviderError, SifakaError, code_of
from sifaka.models import HOST
from sifaka.models.provider_errors import translate
from sifaka.record.usage import Budget, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

logger = logging.getLogger(__name__)

ATTEMPTS = 3
"""Calls for one answer: the first and what follows a transient failure."""
LONGEST_WAIT = 20.0
"""Seconds; a provider that asks for more has failed."""
_COST = "sifaka_cost"
"""The key of an answer's cost, which is kept because it takes some time to look up."""
CALL_TIMEOUT = 120.0
"""Seconds for one call."""


class MeteredModel(WrapperModel):
    """A PydanticAI model whose every request is charged to the current run's ledger.

    Transient failures are repeated after an exponential backoff with full jitter, or after what
    the provider asked for. Each attempt is a call of its own in the budget. A provider that keeps
    failing is left alone for a while.

    Raises:
        AppendRefused: Another process has taken the run over; nothing was sent.
        BudgetExceeded: The next call could break the budget; nothing was sent.
        ModelProviderError: The provider failed for good.
    """

    def __init__(
        self, wrapped: Model, *, call_timeout: float = CALL_TIMEOUT, fallback: bool = False
    ) -> None:
        super().__init__(wrapped)
        self._call_timeout = call_timeout
        self._signature = {"sifaka_model": self.model_id, "sifaka_fallback": fallback}
        self._vendor = self.model_id.partition(":")[0]

    async def request(
        self,
        messages: "list[ModelMessage]",
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        """One answer of the wrapped model."""
        calls = current_calls()
        attempt = 1
        while True:
            calls.breakers.require(self._vendor)
            try:
                async with calls.limiter:
                    settings = merge_model_settings(self.settings, model_settings)
                    labels = asked(self.model_name, self._vendor, self.base_url, settings)
                    with calls.monitor.measure("model", self.model_id, **labels):
                        response = await self._attempt(
                            calls, messages, model_settings, model_request_parameters
                        )
                        annotate(answered(response))
            except AgentRunError as error:
                failure = translate(error, self.model_id)
                calls.monitor.count_error(type(failure).__name__, code_of(failure))
                breakers = calls.breakers
                (breakers.failed if failure.retryable else breakers.abandoned)(self._vendor)
                wait = _wait_before_next(failure, attempt)
                if wait is None:
                    raise failure from error
            except BaseException:
                calls.breakers.abandoned(self._vendor)
                raise
            else:
                calls.breakers.succeeded(self._vendor)
                return response
            left = calls.ledger.seconds_left
            if left is not None and left <= wait:
                raise BudgetExceeded("seconds")
            await anyio.sleep(wait)
            attempt += 1

    async def _attempt(
        self,
        calls: Calls,
        messages: "list[ModelMessage]",
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        # A process that was stopped may wake up here, before the first attempt or between two.
        await calls.confirm()
        # The account besides the run's ledger; what the host's model costs is not ours.
        allowance = None if self._vendor == HOST else current_allowance()
        ledger = calls.ledger
        limits = ledger.limits if allowance is None else stricter(ledger.limits, allowance.limits)
        wanted = quote(self.wrapped, messages, model_settings, parameters, limits)
        await ledger.room_for(wanted)
        reserved = ledger.reserve(wanted)
        if allowance is not None:
            try:
                await allowance.reserve(reserved)
            except BaseException:
                ledger.settle(reserved, Usage())
                raise
        limited = reserved.output_tokens  # 0 when the budget limits neither tokens nor money
        settings = model_settings
        if limited:
            settings = merge_model_settings(settings, ModelSettings(max_tokens=limited))
        # What is given up may be billed all the same, for no more than was set aside. What that is
        # in money is known only where money is limited. None: it is asked later.
        usage: Usage | None = reserved
        if limits.max_cost_usd is None:
            usage = reserved.model_copy(update={"cost_usd": None})
        try:
            with ledger.within_time() as limit, anyio.move_on_after(self._call_timeout):
                response = await self.wrapped.request(messages, settings, parameters)
                if self._vendor != HOST or limits.max_tokens is not None:  # it never reports any
                    response = with_usage(response, messages, parameters)
                usage = usage_of(response)
                clipped = limited < wanted.output_tokens
                ours = clipped or not asked_for(self.wrapped, model_settings)
                if limited and ours and response.finish_reason == "length":
                    raise BudgetExceeded("tokens" if limits.max_tokens else "cost")
                noted = {**self._signature, _COST: usage.cost_usd}
                return replace(response, metadata={**(response.metadata or {}), **noted})
        except Suspended:
            usage = None
            raise
        except ModelHTTPError:
            usage = Usage(model_calls=1)  # an error has no price
            raise
        except ModelConnectionError as error:
            if error.phase in {"pool", "connect"}:
                usage = Usage(model_calls=1)  # it was never sent
            raise
        except ModelProviderError as error:
            if error.error_code == "unavailable":
                usage = Usage()  # no model was asked
            raise
        except (AgentRunError, UserError, SifakaError):
            raise
        # Adapters stumble over replies that are not what the protocol says, each in its own way.
        except Exception as error:
            report_failure(logger, f"adapter of {self.model_id}", error)
            raise ModelProviderError(
                f"{self.model_id}: the answer could not be read ({type(error).__name__})",
                "try again or choose another model",
                provider=self._vendor,
                error_code="malformed",
            ) from error
        finally:
            # What is asked later stays set aside, so that no more is asked than there is room for.
            if usage is None:
                ledger.leave()
            else:
                ledger.settle(reserved, usage)
                calls.monitor.count_usage(self.model_id, usage)
                if allowance is not None:
                    allowance.settle(reserved, usage)
        if limit.cancelled_caught:
            raise BudgetExceeded("seconds")
        raise ModelTimeoutError(self.model_id, f"no answer within {self._call_timeout:g} s")


def usage_of(response: "ModelResponse") -> Usage:
    """The usage of one answer; its cost is None when the model has no known price."""
    noted = response.metadata or {}
    return Usage(
        model_calls=1,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        estimated_calls=int(ESTIMATED in noted),
        cost_usd=noted[_COST] if _COST in noted else _cost_of(response),
    )


def _cost_of(response: "ModelResponse") -> float | None:
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):  # there is no price, or none for this usage
        return None


def _wait_before_next(failure: Exception, attempt: int) -> float | None:
    """Seconds to wait before the next attempt, or None when there is to be none."""
    if not isinstance(failure, ModelProviderError) or not failure.retryable or attempt >= ATTEMPTS:
        return None
    if failure.retry_after is not None:
        return failure.retry_after if failure.retry_after <= LONGEST_WAIT else None
    return random.uniform(0, 0.5 * 2**attempt)  # noqa: S311 - jitter, not a secret


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
    tokens = _count_tokens(messages, parameters)
    input_cost, output_cost = 0.0, 0.0
    if budget.max_cost_usd is not None:
        input_cost, output_cost = _find_price(model, tokens)
    return Quote(
        input_tokens=tokens,
        output_tokens=asked_for(model, settings) or _bound_answer(tokens, output_cost, budget),
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
        input_tokens=usage.input_tokens or _count_tokens(messages, parameters),
        output_tokens=usage.output_tokens or _count_answer(response),
    )
    metadata = {**(response.metadata or {}), ESTIMATED: True}
    return replace(response, usage=estimated, metadata=metadata)


def _count_tokens(messages: "list[ModelMessage]", parameters: ModelRequestParameters) -> int:
    """The tokens of messages and of the tools beside them, at most."""
    tools = (*parameters.function_tools, *parameters.output_tools)
    extra = sum(len(json.dumps(tool.parameters_json_schema)) for tool in tools)
    return math.ceil((len(ModelMessagesTypeAdapter.dump_json(messages)) + extra) / _BYTES_PER_TOKEN)


def _count_answer(response: ModelResponse) -> int:
    """The tokens of an answer's words, at most."""
    texts = (
        part.args_as_json_str()
        if isinstance(part, BaseToolCallPart)
        else getattr(part, "content", "")
        for part in response.parts
    )
    return math.ceil(
        sum(len(str(words).encode("utf-8", "replace")) for words in texts) / _BYTES_PER_TOKEN
    )


def asked_for(model: Model, settings: "ModelSettings | None") -> int | None:
    """The longest answer that the model's settings or the request's ask for, if they do."""
    return (settings or {}).get("max_tokens") or (model.settings or {}).get("max_tokens")


def _bound_answer(tokens: int, output_cost: float, budget: Budget) -> int:
    """The tokens to set aside for an answer without a limit."""
    affordable = [budget.max_tokens] if budget.max_tokens is not None else []
    if budget.max_cost_usd is not None and output_cost:
        affordable.append(int(budget.max_cost_usd / output_cost))
    share = min(affordable, default=0) // _SHARE
    return max(_ANSWER, 2 * tokens, min(share, _LONGEST_ANSWER))


def _find_price(model: Model, input_tokens: int) -> tuple[float | None, float]:
    """US dollars for the question, None when unknown, and for each token of the answer."""
    question, answer = (
        _cost_of(
            ModelResponse(
                parts=[],
                usage=usage,
                model_name=model.model_name,
                provider_name=model.system,
                provider_url=model.base_url,
            )
        )
        for usage in (RequestUsage(input_tokens=input_tokens), RequestUsage(output_tokens=_MILLION))
    )
    return (None, 0.0) if question is None or answer is None else (question, answer / _MILLION)
