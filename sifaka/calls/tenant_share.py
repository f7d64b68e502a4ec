"""What a run may spend besides its own budget: the share of its tenant, or nothing at all."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from sifaka.record.usage import Budget, Usage


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


@contextmanager
def charging(allowance: Allowance | None) -> Generator[None]:
    """Within this context every model call is charged to an allowance as well."""
    token = _current.set(allowance)
    try:
        yield
    finally:
        _current.reset(token)


def current_allowance() -> Allowance | None:
    """The allowance that a call made here is charged to; None without one."""
    return _current.get()


def stricter(one: Budget, other: Budget) -> Budget:
    """The stricter of two budgets' limits, one by one."""
    pairs = {name: (value, dict(other)[name]) for name, value in one}
    least = {
        name: min((v for v in pair if v is not None), default=None) for name, pair in pairs.items()
    }
    return Budget(**least)


_current: ContextVar[Allowance | None] = ContextVar("sifaka_allowance", default=None)
