"""The accounts of the tenants: what each has spent in a day, in the store of its runs."""

import logging
import math
from collections.abc import Callable
from datetime import UTC, datetime
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
        self._run: Run | None = None
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
            if _exceeded(usage, self._free, self.limits) is not None:
                try:
                    await self._take(usage - self._free)
                except StorageError as error:
                    report_failure(logger, "budget", error)
                    raise BudgetExceeded(
                        "calls", "the tenant's budget of the day cannot be looked up", "try again"
                    ) from error
            self._free -= _priced(usage)
            self._in_flight += _priced(usage)

    def settle(self, reserved: Usage, used: Usage) -> None:
        """Replace what was set aside for one call by what it really took."""
        if self._in_flight.model_calls > 0:  # else it was set aside on the day before
            self._in_flight -= _priced(reserved)
            self._free += _priced(reserved) - _priced(used)

    async def give_back(self) -> None:
        """Return to the account what this process has taken and not spent."""
        async with self._lock:
            free = self._free
            if self._day != self._today or free == Usage():
                return
            for _ in range(_TRIES):
                self._run = self._run or await self._load()
                if await self._append(Usage() - free):
                    return

    @property
    def _today(self) -> str:
        return self._clock().astimezone(UTC).date().isoformat()

    def _begin_day(self) -> None:
        if self._day != self._today:
            self._day, self._run = self._today, None
            self._free = self._in_flight = Usage()

    async def _take(self, lack: Usage) -> None:
        """Take a part of the account that makes up for what lacks.

        Raises:
            BudgetExceeded: The account has not so much left.
            StorageError: The store failed.
        """
        for _ in range(_TRIES):
            if self._run is None:
                self._run = await self._load()
            left = _limit(self.limits) - _priced(self._run.usage)
            if (limit := _exceeded(lack, left, self.limits)) is not None:
                raise BudgetExceeded(
                    limit, f"the tenant's budget of {limit} for the day is spent", "go on tomorrow"
                )
            if await self._append(_part(lack, left, self.limits)):
                return
        raise StorageError("other processes change the tenant's account all the time")

    async def _append(self, taken: Usage) -> bool:
        """Record what is taken; False when another process has been there first."""
        assert self._run is not None, "it is loaded before"
        entry = Called(key=self._day, request="", model="", response="", usage=taken)
        run = self._run.apply(entry)
        try:
            await self._store.append(run, [entry], expected_version=self._run.version)
        except VersionConflict:
            self._run = None
            return False
        self._run = run
        self._free += taken
        return True

    async def _load(self) -> Run:
        named = sha256(f"{self._tenant} {self._day}".encode()).hexdigest()
        run_id = f"run_{named[:16]}"
        try:
            return await self._store.load(run_id)
        except ThoughtNotFound:
            started = Started(run_id=run_id, prompt=f"budget of {self._tenant} on {self._day}")
            run = Run.start(started)
            try:
                await self._store.append(run, [started], expected_version=0)
            except VersionConflict:
                return await self._store.load(run_id)
            return run


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


def _exceeded(wanted: Usage, left: Usage, limits: Budget) -> str | None:
    """The first limit that leaves less than is wanted, or None."""
    if limits.max_calls is not None and wanted.model_calls > left.model_calls:
        return "calls"
    if limits.max_tokens is not None and _tokens(wanted) > _tokens(left):
        return "tokens"
    if limits.max_cost_usd is not None and (wanted.cost_usd or 0.0) > (left.cost_usd or 0.0):
        return "cost"
    return None


def _part(lack: Usage, left: Usage, limits: Budget) -> Usage:
    """What is taken at once: what lacks, or a part of the day's limit where there is so much."""
    block = _limit(limits)
    calls = min(max(lack.model_calls, math.ceil(block.model_calls / _BLOCKS)), left.model_calls)
    tokens = min(max(_tokens(lack), math.ceil(_tokens(block) / _BLOCKS)), _tokens(left))
    cost = min(max(lack.cost_usd or 0.0, (block.cost_usd or 0.0) / _BLOCKS), left.cost_usd or 0.0)
    return Usage(model_calls=max(0, calls), input_tokens=max(0, tokens), cost_usd=max(0.0, cost))


def _limit(limits: Budget) -> Usage:
    """The limits of a day as a usage; 0 for what is not limited."""
    return Usage(
        model_calls=limits.max_calls or 0,
        input_tokens=limits.max_tokens or 0,
        cost_usd=limits.max_cost_usd or 0.0,
    )


def _priced(usage: Usage) -> Usage:
    return usage if usage.cost_usd is not None else usage.model_copy(update={"cost_usd": 0.0})


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
