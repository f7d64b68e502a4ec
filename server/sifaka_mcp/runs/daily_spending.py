"""The accounts of the tenants: what each has spent in a day, in the store of its runs."""

import logging
import math
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256

import anyio

from sifaka.calls.failure_log import report_failure
from sifaka.errors import BudgetExceeded, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Called, Started
from sifaka.record.run import Run
from sifaka.record.usage import Budget, Usage
from sifaka.storage.protocol import ThoughtStore

logger = logging.getLogger(__name__)

KEPT_BY = "~budget"
"""The tenant under whom the accounts are kept. No token names it."""
_BLOCKS = 50
"""A process takes the limit of a day in so many parts, so that not every call asks the store."""
_TRIES = 20
"""Appends of one reservation, of which all but the last met another process."""
_CLOSING_SECONDS = 2.0


class Account:
    """What one tenant may spend in a day (UTC), in all processes that share the store.

    The record is that of a run without versions, of which each entry is a part that a process has
    taken. What the process does not spend it gives back when it ends; a part that a process has
    died with counts as spent.

    Args:
        store: Where accounts are kept.
        tenant: Whose account it is.
        limits: The limits of a day.
        clock: The time.
    """

    def __init__(
        self, store: ThoughtStore, tenant: str, limits: Budget, clock: Callable[[], datetime]
    ) -> None:
        self.limits = limits
        self._store = store
        self._tenant = tenant
        self._clock = clock
        self._lock = anyio.Lock()
        self._day = ""
        self._free = Usage()
        """Taken from the account, and neither spent nor set aside."""
        self._in_flight = Usage()
        """Set aside for calls of this day that are under way."""

    async def reserve(self, usage: Usage) -> None:
        """Set aside what one call may take; see `Allowance.reserve`.

        The store has to answer when the part that this process has taken is not enough: without it
        nothing is known of what the others spend.
        """
        if usage.cost_usd is None and self.limits.max_cost_usd is not None:
            raise BudgetExceeded(
                "cost",
                "the tenant's budget of the day is in money, and the model has no known price",
                "choose a model with a known price",
            )
        async with self._lock:
            self._begin_day()
            lack = usage - self._free
            if any(_amounts_by_name(lack)[name] > 0 for name in _limits_by_name(self.limits)):
                try:
                    await self._take_amount(partial(self._choose_part, lack))
                except StorageError as error:
                    report_failure(logger, "budget", error)
                    raise BudgetExceeded(
                        "calls", "the tenant's budget of the day cannot be looked up", "try again"
                    ) from error
            self._free -= _fill_cost(usage)
            self._in_flight += _fill_cost(usage)

    def settle(self, reserved: Usage, used: Usage) -> None:
        """Replace what was set aside for one call by what it really took."""
        if self._in_flight.model_calls > 0:  # else it was set aside on the day before
            self._in_flight -= _fill_cost(reserved)
            self._free += _fill_cost(reserved) - _fill_cost(used)

    async def give_back(self) -> None:
        """Return to the account what this process has taken and not spent.

        Raises:
            StorageError: The store failed.
        """
        async with self._lock:
            free = self._free
            if self._day == self._today and free != Usage():
                await self._take_amount(lambda _: Usage() - free)

    @property
    def _today(self) -> str:
        return self._clock().astimezone(UTC).date().isoformat()

    def _begin_day(self) -> None:
        if self._day != self._today:
            self._day = self._today
            self._free = self._in_flight = Usage()

    def _choose_part(self, lack: Usage, spent: Usage) -> Usage:
        """What is taken at once: what lacks, or a part of the day's limit where there is so much.

        Raises:
            BudgetExceeded: The account has not so much left.
        """
        lacks, used = _amounts_by_name(lack), _amounts_by_name(spent)
        part: dict[str, float] = {}
        for name, limit in _limits_by_name(self.limits).items():
            left = limit - used[name]
            if lacks[name] > left:
                raise BudgetExceeded(
                    name, f"the tenant's budget of {name} for the day is spent", "go on tomorrow"
                )
            part[name] = max(0, min(max(lacks[name], limit / _BLOCKS), left))
        return Usage(
            model_calls=math.ceil(part.get("calls", 0)),
            input_tokens=math.ceil(part.get("tokens", 0)),
            cost_usd=part.get("cost", 0.0),
        )

    async def _take_amount(self, amount: Callable[[Usage], Usage]) -> None:
        """Record that this process takes an amount, given what is spent.

        Raises:
            BudgetExceeded: There is no such amount.
            StorageError: The store failed.
        """
        run_id = f"run_{sha256(f'{self._tenant} {self._day}'.encode()).hexdigest()[:16]}"
        started = Started(run_id=run_id, prompt=f"budget of {self._tenant} on {self._day}")
        for _ in range(_TRIES):
            begun: list[Started] = []
            try:
                run = await self._store.load(run_id)
            except ThoughtNotFound:
                run, begun = Run.start(started), [started]
            taken = amount(run.usage)
            entry = Called(key=self._day, request="", model="", response="", usage=taken)
            stored = run.version - len(begun)
            with suppress(VersionConflict):  # another process has been there first
                await self._store.append(run.apply(entry), [*begun, entry], expected_version=stored)
                self._free += taken
                return
        raise StorageError("other processes change the tenant's account all the time")


class Accounts:
    """The accounts of all tenants of a server.

    Args:
        store: The server's store.
        limits: What each tenant may spend in a day.
        clock: The time.
    """

    def __init__(
        self,
        store: ThoughtStore,
        limits: Budget,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store.scoped(KEPT_BY)
        self._limits = limits
        self._clock = clock
        self._accounts: dict[str, Account] = {}

    def of(self, tenant: str) -> Account:
        """The account of a tenant."""
        if tenant not in self._accounts:
            self._accounts[tenant] = Account(self._store, tenant, self._limits, self._clock)
        return self._accounts[tenant]

    async def aclose(self) -> None:
        """Give back what was taken and not spent."""
        with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
            for account in self._accounts.values():
                try:
                    await account.give_back()
                except StorageError as error:
                    report_failure(logger, "budget", error)


def _limits_by_name(limits: Budget) -> dict[str, float]:
    """The limits of a day, by their names."""
    named = {"calls": limits.max_calls, "tokens": limits.max_tokens, "cost": limits.max_cost_usd}
    return {name: limit for name, limit in named.items() if limit is not None}


def _amounts_by_name(usage: Usage) -> dict[str, float]:
    """A usage, by the names of the limits."""
    return {
        "calls": usage.model_calls,
        "tokens": usage.input_tokens + usage.output_tokens,
        "cost": usage.cost_usd or 0.0,
    }


def _fill_cost(usage: Usage) -> Usage:
    return usage if usage.cost_usd is not None else usage.model_copy(update={"cost_usd": 0.0})
