"""The budgets of the sections of a research, each with room for its writer."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from sifaka.calls.context import Calls
from sifaka.errors import BudgetExceeded
from sifaka.record.usage import Budget, Usage

Stop = Literal["tokens", "time", "iterations", "calls", "cost"]
"""A limit that was reached."""
ORDER: tuple[Stop, ...] = ("tokens", "time", "iterations", "calls", "cost")
"""The order in which they are told."""
_STOPS: Mapping[str, Stop] = MappingProxyType(
    {"tokens": "tokens", "seconds": "time", "calls": "calls", "cost": "cost"}
)


_WRITING = 0.25
"""The part of a section's tokens and money that its loop leaves to the writer."""


def stop_of(error: BudgetExceeded) -> Stop:
    """The limit that left no room for a call."""
    return _STOPS[error.limit]


def in_order(stops: Iterable[Stop]) -> tuple[Stop, ...]:
    """Each limit once, in the order in which they are told."""
    reached = set(stops)
    return tuple(stop for stop in ORDER if stop in reached)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionBudget:
    """The budget of one section."""

    looping: Calls
    """The surroundings of its loop."""
    writing: Calls
    """Those of its writer."""


def share_out(
    calls: Calls, budget: Budget | None, spent: Sequence[Usage], *, besides: int
) -> tuple[SectionBudget, ...]:
    """A budget for each of several sections that are worked on at the same time.

    Each has a call for its writer, which no loop and no other section can take; calls `besides` are
    left for what follows. The rest is shared out evenly. Of tokens and money a part of each share
    is kept for its writer, and as much for each call `besides`.

    Args:
        calls: The surroundings of the run.
        budget: The own budget of each section.
        spent: The usage of each section before a resume.
        besides: Calls that follow the sections.
    """
    whole, sections = calls.ledger, max(1, len(spent))
    share = whole.calls_left
    if share != math.inf:
        share = max(0, share - sections - besides) // sections
    parts = sections + besides * _WRITING
    tokens, cost = whole.tokens_left / parts, whole.cost_left / parts
    budgets: list[SectionBudget] = []
    for before in spent:
        section = whole.part(_limits(calls=share + 1))
        if budget is not None:
            section = section.part(budget, before)
        limits = _limits(
            calls=section.calls_left - 1,
            tokens=min(tokens, section.tokens_left) * (1 - _WRITING),
            cost=min(cost, section.cost_left) * (1 - _WRITING),
        )
        loop = section.part(limits)
        budgets.append(
            SectionBudget(
                looping=replace(calls, ledger=loop), writing=replace(calls, ledger=section)
            )
        )
    return tuple(budgets)


def leaving_one(calls: Calls) -> Calls:
    """The surroundings in which every call that is left may be made but one."""
    limits = _limits(calls=calls.ledger.calls_left - 1)
    return replace(calls, ledger=calls.ledger.part(limits))


def _limits(*, calls: float = math.inf, tokens: float = math.inf, cost: float = math.inf) -> Budget:
    """A budget of so much, without a limit where that is infinite."""
    return Budget(
        max_calls=None if calls == math.inf else max(0, int(calls)),
        max_tokens=None if tokens == math.inf else max(0, int(tokens)),
        max_cost_usd=None if cost == math.inf else cost,
    )
