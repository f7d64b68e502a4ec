"""What a run may spend, and the ledger that sees to it before each call."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from pydantic import Field

from sifaka.errors import BudgetExceeded
from sifaka.immutable import Frozen
from sifaka.results import Usage


class Budget(Frozen):
    """The limits of one run; None means no limit."""

    max_calls: int | None = Field(default=None, ge=0)
    """Model calls, retries included."""
    max_tokens: int | None = Field(default=None, ge=0)
    """Input and output tokens together."""
    max_seconds: float | None = Field(default=None, gt=0)
    """Seconds of work, over all resumes; waiting for a caller not included. Models, critics and
    retrievers are stopped when it is spent; validators finish, so that every text has a verdict."""
    max_cost_usd: float | None = Field(default=None, ge=0)
    """US dollars. A model without a known price may make one call: it may have cost anything."""


class Ledger:
    """The account of one run: a call is reserved before it is made and settled after.

    The only mutable object of a run. It is used from one event loop and never awaits, so parallel
    critics cannot reserve the same call.
    """

    def __init__(
        self, budget: Budget, spent: Usage, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.budget = budget
        self._spent = spent
        self._reserved = 0
        self._clock = clock
        self._started = clock()

    @property
    def spent(self) -> Usage:
        """What has been settled, seconds up to now included."""
        return self._spent + Usage(seconds=self._clock() - self._started)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time budget is spent; None without one."""
        if self.budget.max_seconds is None:
            return None
        return max(0.0, self.budget.max_seconds - self.spent.seconds)

    def exhausted(self) -> str | None:
        """The first limit that leaves no room for one more call, or None."""
        budget, spent = self.budget, self._spent
        tokens = spent.input_tokens + spent.output_tokens
        if budget.max_calls is not None and spent.model_calls + self._reserved >= budget.max_calls:
            return "calls"
        if budget.max_tokens is not None and tokens >= budget.max_tokens:
            return "tokens"
        if self.seconds_left == 0.0:
            return "seconds"
        if budget.max_cost_usd is not None and spent.model_calls:
            # What has no known price may have cost anything.
            cost = spent.cost_usd
            if cost is None or cost >= budget.max_cost_usd:
                return "cost"
        return None

    def require(self, calls: int) -> None:
        """See that there is room for so many calls, without setting them aside.

        Raises:
            BudgetExceeded: There is not.
        """
        if limit := self.exhausted():
            raise BudgetExceeded(limit)
        most = self.budget.max_calls
        if most is not None and self._spent.model_calls + self._reserved + calls > most:
            raise BudgetExceeded("calls")

    def reserve(self) -> None:
        """Set one call aside.

        Raises:
            BudgetExceeded: The call would break a limit. Nothing was set aside.
        """
        if limit := self.exhausted():
            raise BudgetExceeded(limit)
        self._reserved += 1

    def settle(self, usage: Usage) -> None:
        """Replace one reserved call by what it really took."""
        self._reserved -= 1
        self._spent = self._spent + usage

    def charge(self, usage: Usage) -> None:
        """Add what was spent without a reservation, by a model that is not metered."""
        self._spent = self._spent + usage

    @contextmanager
    def charged(self) -> Generator[None]:
        """Within this context, every model call is charged to this ledger."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Ledger | None] = ContextVar("sifaka_ledger", default=None)


def current_ledger() -> Ledger:
    """The ledger that model calls are charged to here; outside a run, one without limits."""
    return _current.get() or Ledger(Budget(), Usage())
