"""The ledger that keeps a run within its budget, before each call."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import cast

import anyio

from sifaka.errors import BudgetExceeded
from sifaka.record.usage import Budget, Usage

SHORTEST_ANSWER = 256
"""Tokens: a call whose answer could not even be this long is not made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The most that a call may take, as far as that is known before it is made."""

    input_tokens: int = 0
    output_tokens: int = 0
    """The longest answer that is wanted; the ledger may allow less."""
    input_cost: float | None = 0.0
    """US dollars for the input; None when the model has no known price."""
    output_cost: float = 0.0
    """US dollars for one token of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The amount set aside for one call."""

    usage: Usage
    """Its output tokens are the longest answer that the budget allows."""
    clipped: bool
    """True when that is less than was asked for."""


class Ledger:
    """The account of one run: a call is reserved before it is made and settled after.

    `budget` is its own, `limits` are those in force for a call that is charged to it.

    The only mutable object of a run. It is used from one event loop, and no reservation awaits, so
    parallel critics cannot reserve the same call.
    """

    def __init__(
        self, budget: Budget, spent: Usage, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.budget = self.limits = budget
        self._spent = spent
        self._in_flight = Usage()
        self._under_way = 0
        self._settled: anyio.Event | None = None
        self._set_aside = 0
        self._clock = clock
        self._started = clock()
        self._waiting = 0
        self._stopped = 0.0
        self._limits: list[anyio.CancelScope] = []

    @property
    def spent(self) -> Usage:
        """The usage settled so far, seconds up to now included."""
        now = self._stopped if self._waiting else self._clock()
        seconds = self._spent.seconds + now - self._started
        return self._spent.model_copy(update={"seconds": seconds})

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time budget is spent; None without one."""
        if self.budget.max_seconds is None:
            return None
        return max(0.0, self.budget.max_seconds - self.spent.seconds)

    def within_time(self) -> AbstractContextManager[anyio.CancelScope, bool]:
        """Within this context, what is done is cancelled when the time budget is spent."""
        if self.limits.max_seconds is None:
            return anyio.CancelScope()
        # Like a cancel scope it swallows the cancellation, which the decorator does not tell.
        return cast("AbstractContextManager[anyio.CancelScope, bool]", self._limited())

    @contextmanager
    def _limited(self) -> Generator[anyio.CancelScope]:
        with anyio.CancelScope(deadline=self._deadline()) as limit:
            self._limits.append(limit)
            try:
                yield limit
            finally:
                self._limits.remove(limit)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Stop the clock within this context, while a caller or a host takes its time."""
        if not self._waiting:
            self._stopped = self._clock()
        self._waiting += 1
        self._move_limits()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._started += self._clock() - self._stopped
            self._move_limits()

    def _move_limits(self) -> None:
        for limit in self._limits:
            limit.deadline = self._deadline()

    def _deadline(self) -> float:
        left = self.seconds_left
        return math.inf if left is None or self._waiting else anyio.current_time() + left

    @property
    def calls_left(self) -> float:
        """Calls that are neither spent nor set aside; infinite without a limit."""
        return self._own_calls_left

    @property
    def has_spare_call(self) -> bool:
        """True when there is room for a call besides the one that comes next here."""
        share = self._share()
        return self.calls_left >= (1 if share is not None and share.calls else 2)

    @property
    def tokens_left(self) -> float:
        """Tokens that are neither spent nor in use by a call; infinite without a limit."""
        return self._own_tokens_left

    @property
    def cost_left(self) -> float:
        """US dollars neither spent nor in use; infinite without a limit, 0 after unknown prices."""
        return self._own_cost_left

    @property
    def _own_tokens_left(self) -> float:
        most = self.budget.max_tokens
        return math.inf if most is None else most - _tokens(self._spent) - _tokens(self._in_flight)

    @property
    def _own_cost_left(self) -> float:
        most, used = self.budget.max_cost_usd, (self._spent + self._in_flight).cost_usd
        return math.inf if most is None else max(0.0, most - used) if used is not None else 0.0

    @property
    def _own_calls_left(self) -> float:
        if self.budget.max_calls is None:
            return math.inf
        used = self._spent.model_calls + self._in_flight.model_calls + self._set_aside
        return self.budget.max_calls - used

    def exhausted(self) -> str | None:
        """The first limit that leaves no room for one more call, or None."""
        budget, spent = self.budget, self._spent
        if self._own_calls_left <= 0:
            return "calls"
        if budget.max_tokens is not None and _tokens(spent) >= budget.max_tokens:
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
        if calls > self.calls_left:
            raise BudgetExceeded("calls")

    @contextmanager
    def set_aside(self, calls: int) -> Generator[None]:
        """Reserve so many calls for the work within this context.

        Inside another such context they are taken from what that one has left, as far as it goes.

        Raises:
            BudgetExceeded: There is no room for them. Nothing was set aside.
        """
        outer = self._share()
        lent = min(calls, outer.calls) if outer is not None else 0
        if calls > lent:
            self.require(calls - lent)
        if outer is not None:
            outer.calls -= lent
        self._set_aside += calls - lent
        share = _Share(self, calls)
        token = _current_share.set(share)
        try:
            yield
        finally:
            _current_share.reset(token)
            returned = min(share.calls, lent)
            if outer is not None:
                outer.calls += returned
            self._set_aside -= share.calls - returned

    async def room_for(self, quote: Quote) -> None:
        """Wait while calls under way have set aside what this one may need.

        Most of them use less. When none is left there may still be too little.
        """
        while self._is_short(quote):
            await self._settlement()

    def _is_short(self, quote: Quote) -> bool:
        if not self._under_way:
            return False
        if quote.input_tokens + quote.output_tokens > self._own_tokens_left:
            return True
        if quote.input_cost is None:
            return False
        return quote.input_cost + quote.output_tokens * quote.output_cost > self._own_cost_left

    async def _settlement(self) -> None:
        if self._settled is None:
            self._settled = anyio.Event()
        await self._settled.wait()

    def reserve(self, quote: Quote | None = None) -> Reservation:
        """Set aside what one call may take.

        Raises:
            BudgetExceeded: The call could break a limit. Nothing was set aside.
        """
        quote = quote or Quote()
        share = self._share()
        own = share is not None and share.calls > 0
        if not own and self._own_calls_left <= 0:
            raise BudgetExceeded("calls")
        if self.seconds_left == 0.0:
            raise BudgetExceeded("seconds")
        output = min(self._within_tokens(quote), self._within_cost(quote))
        if share is not None and own:
            share.calls -= 1
            self._set_aside -= 1
        cost = None
        if quote.input_cost is not None:
            cost = quote.input_cost + output * quote.output_cost
        usage = Usage(
            model_calls=1, input_tokens=quote.input_tokens, output_tokens=output, cost_usd=cost
        )
        self._in_flight += usage
        self._under_way += 1
        return Reservation(usage=usage, clipped=output < quote.output_tokens)

    def leave(self) -> None:
        """One call is no more under way: its answer comes later, and what it may take stays."""
        self._end()

    def _end(self) -> None:
        self._under_way -= 1
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Replace what was set aside for one call by what it really took."""
        self._in_flight -= reservation.usage
        if self._in_flight.model_calls == 0:
            self._in_flight = Usage()  # no rounding error and no unknown price stays behind
        self._spent += usage
        self._end()

    def charge(self, usage: Usage) -> None:
        """Add what was spent without a reservation, by a model that is not metered."""
        self._spent += usage

    def _share(self) -> "_Share | None":
        share = _current_share.get()
        return share if share is not None and share.ledger is self else None

    def _within_tokens(self, quote: Quote) -> int:
        """The longest answer for which there are tokens."""
        if self.budget.max_tokens is None:
            return quote.output_tokens
        return _clipped(quote, int(self._own_tokens_left) - quote.input_tokens, "tokens")

    def _within_cost(self, quote: Quote) -> int:
        """The longest answer for which there is money."""
        most = self.budget.max_cost_usd
        if most is None:
            return quote.output_tokens
        before = self._spent + self._in_flight
        if quote.input_cost is None:
            # What it will cost is unknown: one call, and none beside it or after it.
            if before.model_calls or most == 0:
                raise BudgetExceeded("cost")
            return quote.output_tokens
        if before.cost_usd is None:
            raise BudgetExceeded("cost")
        left = most - before.cost_usd - quote.input_cost
        if quote.output_cost == 0:
            return _clipped(quote, quote.output_tokens if left >= 0 else -1, "cost")
        return _clipped(quote, math.floor(left / quote.output_cost), "cost")


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _clipped(quote: Quote, left: int, limit: str) -> int:
    """The wanted length of an answer, or what is left when that is still worth a call."""
    if left < min(quote.output_tokens, SHORTEST_ANSWER):
        raise BudgetExceeded(limit)
    return min(left, quote.output_tokens)


@dataclass(slots=True)
class _Share:
    ledger: Ledger
    calls: int
    """Set aside and not used yet."""


_current_share: ContextVar[_Share | None] = ContextVar("sifaka_share", default=None)
