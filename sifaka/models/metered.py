"""The one place every model call passes: reserved, bounded in time, retried, settled."""

import logging
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
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings, merge_model_settings

from sifaka.calls.context import Calls, current_calls
from sifaka.calls.failure_log import report_failure
from sifaka.calls.gen_ai import answered, asked
from sifaka.calls.host import Suspended
from sifaka.calls.spans import annotate
from sifaka.calls.tenant_share import Allowance, current_allowance, stricter
from sifaka.errors import BudgetExceeded, ModelProviderError, SifakaError, code_of
from sifaka.models import HOST
from sifaka.models.estimate import ESTIMATED, asked_for, quote, with_usage
from sifaka.models.provider_errors import translate
from sifaka.record.usage import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse

logger = logging.getLogger(__name__)

ATTEMPTS = 3
"""Calls for one answer: the first and what follows a transient failure."""
LONGEST_WAIT = 20.0
"""Seconds; a provider that asks for more has failed."""
_COST = "sifaka_cost"
"""The key of an answer's cost, which is kept because it takes some time to look up."""
_MOST_UNPRICED = 1_000
_unpriced: set[tuple[str | None, str | None, str | None]] = set()
"""Models without a known price: all prices there are would be searched again with each answer."""
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

    @property
    def _vendor(self) -> str:
        return self.model_id.partition(":")[0]

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
                    told = asked(self.model_name, self._vendor, self.base_url, settings)
                    with calls.monitor.measure("model", self.model_id, **told):
                        response = await self._attempt(
                            calls, messages, model_settings, model_request_parameters
                        )
                        annotate(answered(response))
            except AgentRunError as error:
                failure = translate(error, self.model_id)
                self._note(calls, failure)
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

    def _allowance(self) -> Allowance | None:
        """The account besides the run's ledger; what the host's model costs is not ours."""
        return None if self._vendor == HOST else current_allowance()

    def _note(self, calls: Calls, failure: SifakaError) -> None:
        calls.monitor.count_error(type(failure).__name__, code_of(failure))
        if failure.retryable:
            calls.breakers.failed(self._vendor)
        else:
            calls.breakers.abandoned(self._vendor)

    async def _attempt(
        self,
        calls: Calls,
        messages: "list[ModelMessage]",
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        # A process that was stopped may wake up here, before the first attempt or between two.
        await calls.confirm()
        ledger, allowance = calls.ledger, self._allowance()
        limits = ledger.limits if allowance is None else stricter(ledger.limits, allowance.limits)
        wanted = quote(self.wrapped, messages, model_settings, parameters, limits)
        await ledger.room_for(wanted)
        reserved = ledger.reserve(wanted)
        if allowance is not None:
            try:
                await allowance.reserve(reserved.usage)
            except BaseException:
                ledger.settle(reserved, Usage())
                raise
        limited = reserved.usage.output_tokens  # 0 when the budget limits neither tokens nor money
        settings = model_settings
        if limited:
            settings = merge_model_settings(settings, ModelSettings(max_tokens=limited))
        # What is given up may be billed all the same, for no more than was set aside. What that is
        # in money is known only where money is limited.
        usage = reserved.usage
        if limits.max_cost_usd is None:
            usage = usage.model_copy(update={"cost_usd": None})
        asked_later = False
        try:
            with ledger.within_time() as limit, anyio.move_on_after(self._call_timeout):
                response = await self.wrapped.request(messages, settings, parameters)
                if self._vendor != HOST or limits.max_tokens is not None:  # it never reports any
                    response = with_usage(response, messages, parameters)
                usage = usage_of(response)
                ours = reserved.clipped or not asked_for(self.wrapped, model_settings)
                if limited and ours and response.finish_reason == "length":
                    raise BudgetExceeded("tokens" if limits.max_tokens else "cost")
                noted = {**self._signature, _COST: usage.cost_usd}
                return replace(response, metadata={**(response.metadata or {}), **noted})
        except Suspended:
            asked_later = True
            raise
        except ModelHTTPError:
            usage = Usage(model_calls=1)  # an error has no price
            raise
        except ModelConnectionError as error:
            if error.phase in {"pool", "connect"}:
                usage = Usage(model_calls=1)  # it was never sent
            raise
        except ModelProviderError as error:
            if error.code == "unavailable":
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
                code="malformed",
            ) from error
        finally:
            # What is asked later stays set aside, so that no more is asked than there is room for.
            if asked_later:
                ledger.leave()
            else:
                ledger.settle(reserved, usage)
                calls.monitor.count_usage(self.model_id, usage)
                if allowance is not None:
                    allowance.settle(reserved.usage, usage)
        if limit.cancelled_caught:
            raise BudgetExceeded("seconds")
        raise ModelTimeoutError(self.model_id, f"no answer within {self._call_timeout:g} s")


def usage_of(response: "ModelResponse") -> Usage:
    """The usage of one answer; its cost is None when the model has no known price."""
    noted = response.metadata or {}
    cost = noted[_COST] if _COST in noted else _cost_of(response)
    return Usage(
        model_calls=1,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        estimated_calls=int(ESTIMATED in noted),
        cost_usd=cost,
    )


def _cost_of(response: "ModelResponse") -> float | None:
    model = (response.provider_name, response.provider_url, response.model_name)
    if model in _unpriced:
        return None
    try:
        return float(response.cost().total_price)
    except LookupError:
        if len(_unpriced) < _MOST_UNPRICED:
            _unpriced.add(model)
        return None
    except (ValueError, AssertionError):
        return None


def _wait_before_next(failure: Exception, attempt: int) -> float | None:
    """Seconds to wait before the next attempt, or None when there is to be none."""
    if not isinstance(failure, ModelProviderError) or not failure.retryable or attempt >= ATTEMPTS:
        return None
    if failure.retry_after is not None:
        return failure.retry_after if failure.retry_after <= LONGEST_WAIT else None
    return random.uniform(0, 0.5 * 2**attempt)  # noqa: S311 - jitter, not a secret
