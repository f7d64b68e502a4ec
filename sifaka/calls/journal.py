"""The journal: every model call of a run under a key that is the same each time.

An answer is on record before it is used. So a run that is resumed asks nothing twice, and a
finished run can be gone through again without any model.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count

from sifaka.record.entries import Called

ANY_QUESTION = "*"
"""In the place of a digest: the answer is to whatever is asked at its place.

For the replay of runs whose questions had other words: the answers are those on record anyway.
"""


@dataclass(frozen=True, slots=True)
class _Scope:
    """A place in the run's work; the calls made at one place are numbered."""

    path: str
    _numbers: Iterator[int] = field(default_factory=count)

    def next_key(self) -> str:
        return f"{self.path}#{next(self._numbers)}"


_scope: ContextVar[_Scope] = ContextVar("sifaka_scope")


@contextmanager
def scope(name: str) -> Generator[None]:
    """Within it, model calls belong to the place of this name inside the current one.

    Branches that run in parallel need a scope each: their calls finish in any order, and their keys
    must not depend on it.
    """
    outer = _scope.get(None)
    token = _scope.set(_Scope(name if outer is None else f"{outer.path}/{name}"))
    try:
        yield
    finally:
        _scope.reset(token)


_asked: ContextVar[str | None] = ContextVar("sifaka_asked", default=None)


@contextmanager
def asking(key: str) -> Generator[None]:
    """Within it, the call of this key is made."""
    token = _asked.set(key)
    try:
        yield
    finally:
        _asked.reset(token)


def key_asked() -> str | None:
    """The key of the call that is being made, None where no journal is kept."""
    return _asked.get()


class Journal:
    """The calls of one run: those on record, and where further ones go.

    Places are counted from where the journal is made: a run inside a tool of an agent that is
    itself at work on a run has keys of its own.

    Args:
        recorded: The calls on record. Of two under one key the later one counts.
        append: Makes a call durable; nothing is kept when None.
    """

    def __init__(
        self,
        recorded: Iterable[Called] = (),
        append: Callable[[Called], Awaitable[None]] | None = None,
    ) -> None:
        self._recorded = {call.key: call for call in recorded}
        self._before = frozenset(self._recorded)
        self._append = append
        outer = _scope.get(None)
        self._outer = "" if outer is None else f"{outer.path}/"

    def next_key(self) -> str | None:
        """The key of the call that is made here and now; None outside any scope."""
        place = _scope.get(None)
        return None if place is None else place.next_key().removeprefix(self._outer)

    def recorded_at(self, *names: str) -> int:
        """The number of answers on record from the start at these places inside the current one.

        They cost nothing when they are asked for again, so no room is needed for them.

        Args:
            names: Of the places; "" is the current one itself, where there is one.
        """
        path = self.place()
        places = ("/".join(filter(None, (path, name))) for name in names)
        prefixes = tuple(f"{place}{end}" for place in places if place for end in "#/")
        return sum(key.startswith(prefixes) for key in self._before)

    def place(self) -> str:
        """The current place as keys name it; empty outside any."""
        here = _scope.get(None)
        return "" if here is None else f"{here.path}/".removeprefix(self._outer).rstrip("/")

    def answer(self, key: str, request: str) -> str | None:
        """The answer on record to this very question at this very place, if there is one."""
        call = self._recorded.get(key)
        if call is None or call.request not in {request, ANY_QUESTION}:
            return None
        return call.response

    async def record(self, call: Called) -> None:
        """Make a call durable.

        Raises:
            StorageError: That was not possible, and the answer must not be used.
        """
        self._recorded[call.key] = call
        if self._append is not None:
            await self._append(call)
