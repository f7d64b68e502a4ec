"""The context of every model call of a run: its ledger, its journal, its limits, its branches."""

import asyncio
import json
import math
import secrets
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import TypeVar

import anyio
from anyio.lowlevel import checkpoint

from sifaka.calls.breakers import Breakers
from sifaka.calls.host import Suspended
from sifaka.calls.journal import Journal, scope
from sifaka.calls.ledger import Ledger
from sifaka.calls.monitoring import Monitor
from sifaka.errors import SifakaError
from sifaka.record.entries import Called
from sifaka.record.usage import Budget, Usage

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

    @contextmanager
    def set_aside(self, calls: int) -> Generator[None]:
        """Within it so many calls are there, less those whose answers are on record here already.

        Raises:
            BudgetExceeded: There is no room for them. Nothing was set aside.
        """
        with self.ledger.set_aside(max(0, calls - self.journal.recorded_at(""))):
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
    asked = json.dumps([source, request], sort_keys=True, default=str)
    digest = sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
    answer = calls.journal.answer(key, digest)
    if answer is not None:
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

    set_aside = nullcontext()
    if calls_each:
        calls = current_calls()
        known = calls.journal.recorded_at(*branches)
        set_aside = calls.ledger.set_aside(max(0, calls_each * len(branches) - known))
    with set_aside:
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
