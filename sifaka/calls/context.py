"""The context of every model call of a run: its ledger, its journal, its limits, its branches.

The journal has every call under a key that is the same each time, and an answer is on record before
it is used. So a run that is resumed asks nothing twice, and a finished run can be gone through
again without any model.
"""

import asyncio
import json
import math
import secrets
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import count
from typing import TypeVar

import anyio
from anyio.lowlevel import checkpoint

from sifaka._internal.context_values import setting
from sifaka.calls.breakers import Breakers
from sifaka.calls.host import Suspended
from sifaka.calls.ledger import Ledger
from sifaka.calls.monitoring import Monitor
from sifaka.errors import SifakaError
from sifaka.record.entries import Called
from sifaka.record.usage import Budget, Usage

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


def scope(name: str) -> AbstractContextManager[None]:
    """Within it, model calls belong to the place of this name inside the current one.

    Branches that run in parallel need a scope each: their calls finish in any order, and their keys
    must not depend on it.
    """
    outer = _scope.get(None)
    return setting(_scope, _Scope(name if outer is None else f"{outer.path}/{name}"))


_asked: ContextVar[str | None] = ContextVar("sifaka_asked", default=None)


def asking(key: str) -> AbstractContextManager[None]:
    """Within it, the call of this key is made."""
    return setting(_asked, key)


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
        here = _scope.get(None)
        return None if here is None else here.next_key().removeprefix(self._outer)

    def recorded_at(self, *names: str) -> int:
        """The number of answers on record from the start at these places inside the current one.

        They cost nothing when they are asked for again, so no room is needed for them.

        Args:
            names: Of the places; "" is the current one itself, where there is one.
        """
        places = ("/".join(filter(None, (self.place(), name))) for name in names)
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


T = TypeVar("T")

PARALLEL = 16
"""Model calls of one run at the same time."""


new_frame_key = partial(secrets.token_hex, 16)
"""Makes the secret of a run that its marks are made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The surroundings of the calls of one run."""

    ledger: Ledger
    journal: Journal = field(default_factory=Journal)
    confirm: Callable[[], Awaitable[None]] = checkpoint
    """Is awaited before each call that may cost something; raises `AppendRefused` when another
    process has taken the run over."""
    breakers: Breakers = field(default_factory=Breakers)
    monitor: Monitor = field(default_factory=Monitor)
    replaying: bool = False
    """True in a replay: only the answers on record are charged."""
    frame_key: str = ""
    """The secret that the marks around quoted material are made with; the process's when empty."""
    mends: bool = True
    """True when what is not of a draft is taken off it; runs from before that keep theirs."""
    limiter: anyio.Semaphore = field(
        default_factory=lambda: anyio.Semaphore(PARALLEL, fast_acquire=True)
    )

    def set_aside(self, calls: int, *places: str) -> AbstractContextManager[None]:
        """Within it so many calls are there, less those whose answers are on record already.

        Args:
            calls: The calls.
            places: Where they are made, inside the current place; there when none are given.

        Raises:
            BudgetExceeded: There is no room for them. Nothing was set aside.
        """
        return self.ledger.set_aside(max(0, calls - self.journal.recorded_at(*places or ("",))))

    def active(self) -> AbstractContextManager[None]:
        """Within this context, every model call happens in these surroundings."""
        return setting(_current, self)


_current: ContextVar[Calls | None] = ContextVar("sifaka_calls", default=None)


def current_calls() -> Calls:
    """The surroundings of a call made here; outside a run, some without limits or journal."""
    return _current.get() or Calls(ledger=Ledger(Budget(), Usage()))


async def recorded(source: str, request: object, make: Callable[[], Awaitable[str]]) -> str:
    """Record the answer of a source other than a model; it is durable before it is used.

    A resumed run finds the same answer and asks no source again. Outside a run, or outside any
    place of it, the answer is made and not kept.

    Args:
        source: The name of the source, for the record.
        request: The question, as data for JSON; an answer to another request is never taken.
        make: Asks.

    Raises:
        SifakaError: The run is gone through again, and the answer is not on record.
        StorageError: The answer could not be put on record, or another process has the run.
    """
    calls = current_calls()
    key = calls.journal.next_key()
    if key is None:
        return await make()
    question = json.dumps([source, request], sort_keys=True, default=str)
    digest = sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
    if (answer := calls.journal.answer(key, digest)) is not None:
        return answer
    if calls.replaying:
        raise SifakaError(f"what {source} answered at {key!r} is not on record")
    await calls.confirm()
    answer = await make()
    await calls.journal.record(Called(key=key, request=digest, model=source, response=answer))
    return answer


async def fan_out(
    branches: Mapping[str, Callable[[], Awaitable[T]]],
    *,
    calls_each: int = 1,
    parallel: float = math.inf,
) -> tuple[T, ...]:
    """Run branches at the same time.

    Their model calls are set aside together before the first is made: either the budget has room
    for all of them or none is paid for. Each branch is a place of its own in the journal.

    Args:
        branches: The calls, by the names of their places.
        calls_each: Model calls that each branch is sure to make.
        parallel: Branches at the same time.

    Returns:
        The results in the order of the branches.

    Raises:
        BudgetExceeded: There is no room for all of them.
        Suspended: Some wait for answers; the others have come to their end.
        Exception: The error of the first branch that failed; the others were cancelled.
    """
    results: dict[str, T] = {}
    failures: list[Exception] = []
    waiting: list[Suspended] = []
    limiter = anyio.CapacityLimiter(parallel)

    async def run(name: str, branch: Callable[[], Awaitable[T]]) -> None:
        try:
            async with limiter:
                with scope(name):
                    results[name] = await branch()
        except Suspended as suspended:
            waiting.append(suspended)
        # Raised again below, out of the exception group that no caller expects.
        except Exception as error:  # noqa: BLE001
            failures.append(error)
            group.cancel_scope.cancel()

    needed = calls_each * len(branches)
    with current_calls().set_aside(needed, *branches) if needed else nullcontext():
        if len(branches) == 1:
            ((name, branch),) = branches.items()
            with scope(name):
                return (await branch(),)
        async with anyio.create_task_group() as group:
            for name, branch in branches.items():
                group.start_soon(run, name, branch)
    if failures:
        raise failures[0]
    if waiting:
        raise Suspended.together(waiting)
    return tuple(results[name] for name in branches)


def is_cancelled() -> bool:
    """True when this task is cancelled, and not something that it waited for."""
    task = asyncio.current_task()
    ours = task is None or task.cancelling() > 0
    return ours or anyio.current_effective_deadline() == -math.inf
