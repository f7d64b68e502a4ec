"""The one place every model call passes: reserved, bounded in time, retried, settled."""

import logging
import random
from typing import TYPE_CHECKING

import anyio
from pydantic_ai.exceptions import AgentRunError, ModelTimeoutError, UserError
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel

from sifaka.budget import Ledger, current_ledger
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models.failures import translate
from sifaka.results import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.settings import ModelSettings

logger = logging.getLogger(__name__)

ATTEMPTS = 3
"""Calls for one answer: the first and what follows a transient failure."""
LONGEST_WAIT = 20.0
"""Seconds; a provider that asks for more has failed."""
CALL_TIMEOUT = 120.0
"""Seconds for one call."""


class MeteredModel(WrapperModel):
    """A PydanticAI model whose every request is charged to the current run's ledger.

    Transient failures are repeated after an exponential backoff with full jitter, or after what
    the provider asked for. Each attempt is a call of its own in the budget.

    Raises:
        BudgetExceeded: The next call would break the budget; nothing was sent.
        ModelProviderError: The provider failed for good.
    """

    def __init__(self, wrapped: Model, *, call_timeout: float = CALL_TIMEOUT) -> None:
        super().__init__(wrapped)
        self._call_timeout = call_timeout

    async def request(
        self,
        messages: "list[ModelMessage]",
        model_settings: "ModelSettings | None",
        model_request_parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        """One answer of the wrapped model."""
        ledger = current_ledger()
        attempt = 1
        while True:
            try:
                return await self._attempt(
                    ledger, messages, model_settings, model_request_parameters
                )
            except AgentRunError as error:
                failure = translate(error, self.model_id)
                wait = _wait_before_next(failure, attempt)
                if wait is None:
                    raise failure from error
            if ledger.seconds_left is not None and ledger.seconds_left <= wait:
                raise BudgetExceeded("seconds")
            await anyio.sleep(wait)
            attempt += 1

    async def _attempt(
        self,
        ledger: Ledger,
        messages: "list[ModelMessage]",
        model_settings: "ModelSettings | None",
        model_request_parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        ledger.reserve()
        usage = Usage(model_calls=1, cost_usd=None)
        left = ledger.seconds_left
        try:
            with anyio.move_on_after(
                self._call_timeout if left is None else min(self._call_timeout, left)
            ):
                response = await self.wrapped.request(
                    messages, model_settings, model_request_parameters
                )
                usage = usage_of(response)
                return response
        except (AgentRunError, UserError):
            raise
        # Adapters stumble over replies that are not what the protocol says, each in its own way.
        except Exception as error:
            logger.exception("%s: the adapter failed on a reply", self.model_id)
            raise ModelProviderError(
                f"{self.model_id}: the answer could not be read ({type(error).__name__})",
                "try again or choose another model",
                provider=self.model_id.partition(":")[0],
                code="malformed",
            ) from error
        finally:
            ledger.settle(usage)
        if ledger.seconds_left == 0.0:
            raise BudgetExceeded("seconds")
        raise ModelTimeoutError(self.model_id, f"no answer within {self._call_timeout:g} s")


def usage_of(response: "ModelResponse") -> Usage:
    """What one answer has consumed; its cost is None when the model has no known price."""
    try:
        cost = float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        cost = None
    return Usage(
        model_calls=1,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        cost_usd=cost,
    )


def _wait_before_next(failure: Exception, attempt: int) -> float | None:
    """Seconds to wait before the next attempt, or None when there is to be none."""
    if not isinstance(failure, ModelProviderError) or not failure.retryable or attempt >= ATTEMPTS:
        return None
    if failure.retry_after is not None:
        return failure.retry_after if failure.retry_after <= LONGEST_WAIT else None
    return random.uniform(0, 0.5 * 2**attempt)  # noqa: S311 - jitter, not a secret
