"""Trying an async function again after failures that may pass."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import anyio
from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.errors import SifakaError

P = ParamSpec("P")
T = TypeVar("T")


class RetryConfig(Frozen):
    """How often a function is tried, and how long it waits in between.

    The waits grow by a factor, as in Metcalfe and Boggs, "Ethernet" (1976).
    """

    max_attempts: int = Field(default=3, ge=1)
    """Calls in all."""
    delay: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """Seconds before the second call."""
    backoff: float = Field(default=2.0, ge=1, allow_inf_nan=False)
    """The factor from one wait to the next."""

    def calculate_delay(self, attempt: int) -> float:
        """Seconds to wait after an attempt; the first has the number 0."""
        return self.delay * self.backoff**attempt


_USUAL = RetryConfig()


def with_retry(
    config: RetryConfig = _USUAL,
) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Awaitable[T]]]:
    """Make an async function try again after what may pass.

    That is an error of Sifaka's that is `retryable`, a lost connection, or a time limit. Where the
    error says how long to wait (`retry_after`), it waits at least so long.

    Args:
        config: How often, and how long it waits.

    Returns:
        A decorator. The error of the last attempt is raised.
    """

    def decorate(call: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        @wraps(call)
        async def tried(*args: P.args, **kwargs: P.kwargs) -> T:
            for attempt in range(config.max_attempts - 1):
                wait = config.calculate_delay(attempt)
                try:
                    return await call(*args, **kwargs)
                except SifakaError as error:
                    if not error.retryable:
                        raise
                    wait = max(wait, error.retry_after or 0)
                except (ConnectionError, TimeoutError):
                    pass
                await anyio.sleep(wait)
            return await call(*args, **kwargs)

        return tried

    return decorate
