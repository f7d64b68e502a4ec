"""The ledger that keeps a run within its budget and its tenant's share, before each call."""

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Protocol, cast

import anyio

from sifaka._internal.context_values import setting
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


@dataclass(slots=True, eq=False)
class _Account:
    """One budget, and what is spent and in use of it."""

    budget: Budget
    spent: Usage
    clock: Callable[[], float]
    started: float
    in_flight: Usage = field(default_factory=Usage)
    under_way: int = 0
    settled: anyio.Event | None = None
    set_aside: int = 0
    waiting: int = 0
    stopped: float = 0.0
    scopes: list[anyio.CancelScope] = field(default_factory=list[anyio.CancelScope])
    """Those that end when the time of this account is spent."""

    @property
    def seconds_left(self) -> float:
        if self.budget.max_seconds is None:
            return math.inf
        now = self.stopped if self.waiting else self.clock()
        return max(0.0, self.budget.max_seconds - self.spent.seconds - (now - self.started))

    @property
    def calls_left(self) -> float:
        if self.budget.max_calls is None:
            return math.inf
        used = self.spent.model_calls + self.in_flight.model_calls + self.set_aside
        return self.budget.max_calls - used

    @property
    def tokens_left(self) -> float:
        most = self.budget.max_tokens
        return math.inf if most is None else most - _tokens(self.spent) - _tokens(self.in_flight)

    @property
    def cost_left(self) -> float:
        most, used = self.budget.max_cost_usd, (self.spent + self.in_flight).cost_usd
        return math.inf if most is None else max(0.0, most - used) if used is not None else 0.0

    def exhausted(self) -> str | None:
        """The first limit that leaves no room for one more call, or None."""
        budget, spent = self.budget, self.spent
        if self.calls_left <= 0:
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
        """Raise `BudgetExceeded` unless there is room for so many calls."""
        if limit := self.exhausted():
            raise BudgetExceeded(limit)
        if calls > self.calls_left:
            raise BudgetExceeded("calls")

    def is_short(self, quote: Quote) -> bool:
        """True while calls under way have what this one may need."""
        rooms = self._rooms(quote) if self.under_way else ()
        return any(
            room < quote.output_tokens
            for limit, room in rooms
            if limit == "tokens" or quote.input_cost is not None
        )

    def longest(self, quote: Quote) -> int:
        """The longest answer for which there are seconds, tokens and money."""
        if self.seconds_left == 0.0:
            raise BudgetExceeded("seconds")
        output = quote.output_tokens
        for limit, room in self._rooms(quote):
            if room < min(output, SHORTEST_ANSWER):
                raise BudgetExceeded(limit)
            output = int(min(output, room))
        return output

    def _rooms(self, quote: Quote) -> Iterator[tuple[str, float]]:
        """The longest answers for which there are tokens and money; below 0 without any room."""
        yield "tokens", self.tokens_left - quote.input_tokens
        most, before = self.budget.max_cost_usd, self.spent + self.in_flight
        if most is None:
            return
        if quote.input_cost is None:
            # What it will cost is unknown: one call, and none beside it or after it.
            yield "cost", -1 if before.model_calls or most == 0 else math.inf
        elif before.cost_usd is None:
            yield "cost", -1
        else:
            left = most - before.cost_usd - quote.input_cost
            free = math.copysign(math.inf, left)
            yield "cost", math.floor(left / quote.output_cost) if quote.output_cost else free

    def end(self) -> None:
        """One call is no more under way."""
        self.under_way -= 1
        if self.settled is not None:
            self.settled.set()
            self.settled = None


class Ledger:
    """The account of one run: a call is reserved before it is made and settled after.

    A part of a run's work may have a ledger of its own: what it spends, the whole spends too.
    `budget` is its own, `limits` are those in force for a call that is charged to it.

    The only mutable object of a run. It is used from one event loop, and no reservation awaits, so
    parallel critics cannot reserve the same call.
    """

    def __init__(
        self,
        budget: Budget,
        spent: Usage,
        *,
        clock: Callable[[], float] = time.monotonic,
        of: Sequence[_Account] = (),
    ) -> None:
        self.budget = budget
        self.limits = reduce(stricter, (account.budget for account in of), budget)
        self._accounts = (_Account(budget, spent, clock, started=clock()), *of)

    def part(self, budget: Budget, spent: Usage | None = None) -> "Ledger":
        """The ledger of a part of the work, with limits of its own besides these.

        Args:
            budget: The budget of the part.
            spent: The earlier usage of the part, which is in this ledger already.
        """
        clock = self._accounts[0].clock
        return Ledger(budget, spent or Usage(), clock=clock, of=self._accounts)

    @property
    def spent(self) -> Usage:
        """The usage settled so far, seconds up to now included."""
        own = self._accounts[0]
        now = own.stopped if own.waiting else own.clock()
        seconds = own.spent.seconds + now - own.started
        return own.spent.model_copy(update={"seconds": seconds})

    @property
    def seconds_left(self) -> float | None:
        """Seconds until a time budget is spent; None without one."""
        left = min(account.seconds_left for account in self._accounts)
        return None if left == math.inf else left

    def within_time(self) -> AbstractContextManager[anyio.CancelScope, bool]:
        """Within this context, what is done is cancelled when the time budget is spent."""
        if self.limits.max_seconds is None:
            return anyio.CancelScope()
        # Like a cancel scope it swallows the cancellation, which the decorator does not tell.
        return cast("AbstractContextManager[anyio.CancelScope, bool]", self._limit_time())

    @contextmanager
    def _limit_time(self) -> Generator[anyio.CancelScope]:
        scopes = self._accounts[0].scopes
        with anyio.CancelScope(deadline=_deadline(self._accounts)) as limit:
            scopes.append(limit)
            try:
                yield limit
            finally:
                scopes.remove(limit)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Stop the clock within this context, while a caller or a host takes its time."""
        for account in self._accounts:
            if not account.waiting:
                account.stopped = account.clock()
            account.waiting += 1
        self._move_deadlines()
        try:
            yield
        finally:
            for account in self._accounts:
                account.waiting -= 1
                if not account.waiting:
                    account.started += account.clock() - account.stopped
            self._move_deadlines()

    def _move_deadlines(self) -> None:
        for at, account in enumerate(self._accounts):
            for scope in account.scopes:
                scope.deadline = _deadline(self._accounts[at:])

    @property
    def calls_left(self) -> float:
        """Calls that are neither spent nor set aside; infinite without a limit."""
        return min(account.calls_left for account in self._accounts)

    @property
    def tokens_left(self) -> float:
        """Tokens that are neither spent nor in use by a call; infinite without a limit."""
        return min(account.tokens_left for account in self._accounts)

    @property
    def cost_left(self) -> float:
        """US dollars neither spent nor in use; infinite without a limit, 0 after unknown prices."""
        return min(account.cost_left for account in self._accounts)

    @property
    def has_spare_call(self) -> bool:
        """True when there is room for a call besides the one that comes next here."""
        share = self._share()
        return self.calls_left >= (1 if share and share.calls else 2)

    def exhausted(self) -> str | None:
        """The first limit that leaves no room for one more call, or None."""
        return next(filter(None, (account.exhausted() for account in self._accounts)), None)

    def require(self, calls: int) -> None:
        """See that there is room for so many calls, without setting them aside.

        Raises:
            BudgetExceeded: There is not.
        """
        for account in self._accounts:
            account.require(calls)

    @contextmanager
    def set_aside(self, calls: int) -> Generator[None]:
        """Reserve so many calls for the work within this context.

        Inside another such context they are taken from what that one has left, as far as it goes.

        Raises:
            BudgetExceeded: There is no room for them. Nothing was set aside.
        """
        *parts, whole = self._accounts
        if calls:
            for part in parts:
                part.require(calls)
        outer = self._share()
        lent = min(calls, outer.calls) if outer is not None else 0
        if calls > lent:
            whole.require(calls - lent)
        if outer is not None:
            outer.calls -= lent
        whole.set_aside += calls - lent
        share = _Share(whole, calls)
        try:
            with setting(_current_share, share):
                yield
        finally:
            returned = min(share.calls, lent)
            if outer is not None:
                outer.calls += returned
            whole.set_aside -= share.calls - returned

    async def room_for(self, quote: Quote) -> None:
        """Wait while calls under way have set aside what this one may need.

        Most of them use less. When none is left there may still be too little.
        """
        whole = self._accounts[-1]  # which settles what is settled in any part
        while any(account.is_short(quote) for account in self._accounts):
            whole.settled = whole.settled or anyio.Event()
            await whole.settled.wait()

    def reserve(self, quote: Quote | None = None) -> Usage:
        """Set aside what one call may take.

        Returns:
            What was set aside. Its output tokens are the longest answer that the budget allows.

        Raises:
            BudgetExceeded: The call could break a limit. Nothing was set aside.
        """
        quote = wanted = quote or Quote()
        whole, share = self._accounts[-1], self._share()
        for account in self._accounts:
            is_held = account is whole and share is not None and share.calls > 0
            if not is_held and account.calls_left <= 0:
                raise BudgetExceeded("calls")
            wanted = replace(wanted, output_tokens=account.longest(wanted))
        if share is not None and share.calls > 0:
            share.calls -= 1
            whole.set_aside -= 1
        output, cost = wanted.output_tokens, None
        if quote.input_cost is not None:
            cost = quote.input_cost + output * quote.output_cost
        reserved = Usage(
            model_calls=1, input_tokens=quote.input_tokens, output_tokens=output, cost_usd=cost
        )
        for account in self._accounts:
            account.in_flight += reserved
            account.under_way += 1
        return reserved

    def leave(self) -> None:
        """One call is no more under way: its answer comes later, and what it may take stays."""
        for account in self._accounts:
            account.end()

    def settle(self, reserved: Usage, used: Usage) -> None:
        """Replace what was set aside for one call by what it really took."""
        for account in self._accounts:
            account.in_flight -= reserved
            if account.in_flight.model_calls == 0:
                account.in_flight = Usage()  # no rounding error and no unknown price stays behind
            account.spent += used
            account.end()

    def charge(self, usage: Usage) -> None:
        """Add what was spent without a reservation, by a model that is not metered."""
        for account in self._accounts:
            account.spent += usage

    def _share(self) -> "_Share | None":
        share = _current_share.get()
        return share if share is not None and share.account is self._accounts[-1] else None


def _deadline(accounts: Sequence[_Account]) -> float:
    """The time at which work is cancelled that these are charged for, the narrowest first."""
    if accounts[0].waiting:
        return math.inf
    return anyio.current_time() + min(account.seconds_left for account in accounts)


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


@dataclass(slots=True)
class _Share:
    account: _Account
    calls: int
    """Set aside and not used yet."""


_current_share: ContextVar[_Share | None] = ContextVar("sifaka_share", default=None)


class Allowance(Protocol):
    """An account that several runs spend from: a call is reserved before it is made."""

    @property
    def limits(self) -> Budget:
        """What it limits, so that calls are estimated in those amounts."""
        ...

    async def reserve(self, usage: Usage) -> None:
        """Set aside what one call may take.

        Raises:
            BudgetExceeded: There is not so much left. Nothing was set aside.
        """
        ...

    def settle(self, reserved: Usage, used: Usage) -> None:
        """Replace what was set aside for one call by what it really took."""
        ...


def charging(allowance: Allowance | None) -> AbstractContextManager[None]:
    """Within this context every model call is charged to an allowance as well."""
    return setting(_current_allowance, allowance)


def current_allowance() -> Allowance | None:
    """The allowance that a call made here is charged to; None without one."""
    return _current_allowance.get()


def stricter(one: Budget, other: Budget) -> Budget:
    """The stricter of two budgets' limits, one by one."""
    pairs = {name: (value, dict(other)[name]) for name, value in one}
    least = {
        name: min((v for v in pair if v is not None), default=None) for name, pair in pairs.items()
    }
    return Budget(**least)


_current_allowance: ContextVar[Allowance | None] = ContextVar("sifaka_allowance", default=None)
