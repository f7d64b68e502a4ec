"""Fan-out: several branches at once, their results in order, their errors unwrapped."""

import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from typing import TypeVar

import anyio

from sifaka.calls.context import current_calls
from sifaka.calls.host import Suspended
from sifaka.calls.journal import scope

T = TypeVar("T")


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
        recorded = calls.journal.recorded_at(*branches)
        set_aside = calls.ledger.set_aside(max(0, calls_each * len(branches) - recorded))
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
