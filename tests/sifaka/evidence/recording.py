"""A run's surroundings for tests: what was recorded, and again from there."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from sifaka.calls.context import Calls
from sifaka.calls.journal import Journal, scope
from sifaka.calls.ledger import Ledger
from sifaka.record.entries import Called
from sifaka.record.usage import Budget, Usage


@contextmanager
def recording(
    recorded: Iterable[Called] = (), *, budget: Budget | None = None, replaying: bool = False
) -> Generator[list[Called]]:
    """Within it calls belong to a run that has made those on record; yields the further ones."""
    made: list[Called] = []

    async def append(call: Called) -> None:
        made.append(call)

    calls = Calls(
        ledger=Ledger(budget or Budget(), Usage()),
        journal=Journal(recorded, append),
        replaying=replaying,
        frame_key="a secret of the run",
    )
    with calls.active(), scope("work"):
        yield made
