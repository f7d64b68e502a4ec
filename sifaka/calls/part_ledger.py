"""The account of a part of a run's work: what it spends, the whole spends too."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace

from sifaka.calls.allowance import stricter
from sifaka.calls.ledger import Ledger, Quote, Reservation
from sifaka.errors import BudgetExceeded
from sifaka.record.usage import Budget, Usage


class PartLedger(Ledger):
    """The account of a part of a run's work, with limits of its own besides those of the whole.

    Args:
        whole: The account of the whole.
        budget: The budget of the part.
        spent: Its earlier usage, which the ledger of the whole has already.
        clock: Seconds of a clock that never goes back.
    """

    def __init__(
        self,
        whole: Ledger,
        budget: Budget,
        spent: Usage | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(budget, spent or Usage(), clock=clock)
        self.whole = whole
        self.limits = stricter(budget, whole.limits)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until its own time budget or that of the whole is spent; None without any."""
        left = [s for s in (super().seconds_left, self.whole.seconds_left) if s is not None]
        return min(left, default=None)

    @property
    def calls_left(self) -> float:
        """Calls that neither limit forbids."""
        return min(super().calls_left, self.whole.calls_left)

    @property
    def tokens_left(self) -> float:
        """Tokens that neither limit forbids."""
        return min(super().tokens_left, self.whole.tokens_left)

    @property
    def cost_left(self) -> float:
        """US dollars that neither limit forbids."""
        return min(super().cost_left, self.whole.cost_left)

    def exhausted(self) -> str | None:
        """The first limit, its own or of the whole, that leaves no room for one more call."""
        return super().exhausted() or self.whole.exhausted()

    @contextmanager
    def set_aside(self, calls: int) -> Generator[None]:
        """Within this context so many calls are there, out of what the whole has left."""
        if calls and (limit := super().exhausted()):
            raise BudgetExceeded(limit)
        if calls and calls > self._own_calls_left:
            raise BudgetExceeded("calls")
        with self.whole.set_aside(calls):
            yield

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Within this context no time passes, for the whole neither."""
        with super().waiting(), self.whole.waiting():
            yield

    def _is_short(self, quote: Quote) -> bool:
        return super()._is_short(quote) or self.whole._is_short(quote)  # noqa: SLF001 - of its kind

    async def _settlement(self) -> None:
        await self.whole._settlement()  # noqa: SLF001 - which settles what is settled here

    def leave(self) -> None:
        """One call is no more under way, here and in the whole."""
        super().leave()
        self.whole.leave()

    def reserve(self, quote: Quote | None = None) -> Reservation:
        """Set aside what one call may take, here and in the whole."""
        own = super().reserve(quote)
        wanted = replace(quote or Quote(), output_tokens=own.usage.output_tokens)
        try:
            reservation = self.whole.reserve(wanted)
        except BudgetExceeded:
            super().settle(own, Usage())
            raise
        self._in_flight += reservation.usage - own.usage  # the whole may allow a shorter answer
        return Reservation(usage=reservation.usage, clipped=own.clipped or reservation.clipped)

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Replace what was set aside by what the call really took, here and in the whole."""
        super().settle(reservation, usage)
        self.whole.settle(reservation, usage)

    def charge(self, usage: Usage) -> None:
        """Add what was spent without a reservation."""
        super().charge(usage)
        self.whole.charge(usage)
