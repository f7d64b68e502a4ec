"""Doing a piece of work once for all who want it at the same time."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
from anyio.lowlevel import RunVar

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Flight(Generic[T]):
    landed: anyio.Event = field(default_factory=anyio.Event)
    outcome: Callable[[], T] | None = None
    """Returns or raises what came of it; None after a cancellation."""


class SingleFlight(Generic[T]):
    """Lets the first who asks for a key do the work, and gives the others what comes of it.

    A failure reaches all of them and is not kept. When the first is cancelled, one of the others
    does the work instead. Askers in another event loop are on their own.
    """

    def __init__(self) -> None:
        self._of_loop: RunVar[dict[str, _Flight[T]]] = RunVar("sifaka_flights")

    async def run(self, key: str, work: Callable[[], Awaitable[T]]) -> T:
        """The result of the work for this key, done here or by the caller that came first."""
        flights = self._flights()
        while (flight := flights.get(key)) is not None:
            await flight.landed.wait()
            if flight.outcome is not None:
                return flight.outcome()
        flight = flights[key] = _Flight[T]()
        try:
            result = await work()
        except Exception as error:
            failure = error

            def fail() -> T:
                raise failure

            flight.outcome = fail
            raise
        else:
            flight.outcome = lambda: result
            return result
        finally:
            del flights[key]
            flight.landed.set()

    def _flights(self) -> dict[str, _Flight[T]]:
        try:
            return self._of_loop.get()
        except LookupError:
            flights: dict[str, _Flight[T]] = {}
            self._of_loop.set(flights)
            return flights
