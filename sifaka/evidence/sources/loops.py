"""What belongs to an event loop, and has to be closed with it."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from anyio.lowlevel import RunVar


class Closable(Protocol):
    """Something with connections."""

    async def aclose(self) -> None:
        """Close them."""
        ...


T = TypeVar("T", bound=Closable)


class _Loop:
    """Stands for an event loop, as long as that is there."""


@dataclass(slots=True)
class _Kept(Generic[T]):
    value: T
    keeper: AsyncGenerator[T]


class PerLoop(Generic[T]):
    """One thing for each event loop that asks for it.

    Connections wait for the loop that opened them, and fail once it is closed. A program that makes
    one run after another with `asyncio.run` therefore gets new ones each time, and the old ones are
    closed at the end of their loop, as suspended generators are.

    Args:
        make: Makes one.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._kept: WeakKeyDictionary[_Loop, _Kept[T]] = WeakKeyDictionary()

    async def get(self) -> T:
        """The one of the loop that runs here."""
        loop = _current_loop()
        kept = self._kept.get(loop)
        if kept is None:
            keeper = self._closing_at_the_end()
            kept = self._kept[loop] = _Kept(await anext(keeper), keeper)
        return kept.value

    async def aclose(self) -> None:
        """Close the one of the loop that runs here; another is made when it is asked for."""
        kept = self._kept.pop(_current_loop(), None)
        if kept is not None:
            await kept.keeper.aclose()

    async def _closing_at_the_end(self) -> AsyncGenerator[T]:
        value = self._make()
        try:
            yield value
        finally:
            await value.aclose()


_mark: RunVar[_Loop] = RunVar("sifaka_sources_loop")


def _current_loop() -> _Loop:
    loop = _mark.get(None)
    if loop is None:
        loop = _Loop()
        _mark.set(loop)
    return loop
