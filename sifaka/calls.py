"""What surrounds every model call of a run: its account, its journal, its limits, its clock."""

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import anyio

from sifaka.breakers import Breakers
from sifaka.budget import Budget, Ledger
from sifaka.journal import Journal
from sifaka.monitoring import Monitor
from sifaka.results import Usage

PARALLEL = 16
"""Model calls of one run at the same time."""


def new_frame_key() -> str:
    """What the marks of a run are made with, a secret of it."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The surroundings of the calls of one run."""

    ledger: Ledger
    journal: Journal = field(default_factory=Journal)
    breakers: Breakers = field(default_factory=Breakers)
    monitor: Monitor = field(default_factory=Monitor)
    replaying: bool = False
    """Whether answers on record are charged, as nothing else is: the run is gone through again."""
    frame_key: str = ""
    """What the marks around quoted material are made with; those of the process when empty."""
    limiter: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(PARALLEL))

    @contextmanager
    def set_aside(self, calls: int) -> Generator[None]:
        """Within it so many calls are there, less those whose answers are on record here already.

        Raises:
            BudgetExceeded: There is no room for them. Nothing was set aside.
        """
        with self.ledger.set_aside(max(0, calls - self.journal.recorded_here())):
            yield

    @contextmanager
    def active(self) -> Generator[None]:
        """Within this context, every model call happens in these surroundings."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Calls | None] = ContextVar("sifaka_calls", default=None)


def current_calls() -> Calls:
    """The surroundings of a call made here; outside a run, some without limits or journal."""
    return _current.get() or Calls(ledger=Ledger(Budget(), Usage()))
