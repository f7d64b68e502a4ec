"""The budgets of the parts of a research, and the calls that are kept for its writers."""

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.calls.part_ledger import PartLedger
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


class KeptCall:
    """One call that is set aside for one caller, where calls are limited and there is room."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._held = ExitStack()
        self._context = copy_context()
        self.is_there = ledger.calls_left != math.inf
        """True when a call was set aside."""
        try:
            if self.is_there:
                # In a context of its own: in this one the next call of any kind would take it.
                self._context.run(self._held.enter_context, ledger.set_aside(1))
        except BudgetExceeded:
            self.is_there = False

    def release(self) -> None:
        """Give it back."""
        self._context.run(self._held.close)

    @contextmanager
    def within(self) -> Generator[None]:
        """Within this context the call may be made."""
        # Nothing awaits in between, so no other call can take it.
        self.release()
        with self._ledger.set_aside(1) if self.is_there else nullcontext():
            yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Purse:
    """The budget of one section."""

    looping: Calls
    """The surroundings of its loop."""
    writing: Calls
    """Those of its writer."""
    kept: KeptCall

    @classmethod
    def of(
        cls,
        calls: Calls,
        budget: Budget | None,
        *,
        spent: Usage,
        share: float,
        tokens: float = math.inf,
        cost: float = math.inf,
        kept: KeptCall,
    ) -> "Purse":
        """A purse out of the budget of a run.

        Args:
            calls: The surroundings of the run.
            budget: The section's own budget.
            spent: The usage of the section before a resume.
            share: Calls that its loop may still make.
            tokens: Tokens that its loop and its writer may still use.
            cost: US dollars that they may still spend.
            kept: The writer's call.
        """
        whole = calls.ledger if budget is None else PartLedger(calls.ledger, budget, spent)
        if budget is not None and budget.max_calls is not None:
            # One of its own calls is the writer's.
            share = min(share, budget.max_calls - 1 - spent.model_calls)
        tokens = min(tokens, whole.tokens_left) * (1 - _WRITING)
        cost = min(cost, whole.cost_left) * (1 - _WRITING)
        limits = Budget(
            max_calls=None if share == math.inf else max(0, int(share)),
            max_tokens=None if tokens == math.inf else max(0, int(tokens)),
            max_cost_usd=None if cost == math.inf else cost,
        )
        loop = whole if limits == Budget() else PartLedger(whole, limits)
        return cls(
            looping=replace(calls, ledger=loop), writing=replace(calls, ledger=whole), kept=kept
        )

    @contextmanager
    def to_write(self) -> Generator[None]:
        """Within this context calls are the writer's."""
        with self.kept.within(), self.writing.active():
            yield


def shared_out(
    calls: Calls, budget: Budget | None, spent: Sequence[Usage], *, besides: int
) -> tuple[tuple[Purse, ...], Sequence[KeptCall]]:
    """A purse for each of several sections that are worked on at the same time.

    A call for each writer is reserved before any of them begins, then those `besides`. The rest is
    shared out evenly. Of tokens and money a part of each share is kept for its writer, and as much
    for each call `besides`. Returns the purses, and the calls `besides`.
    """
    writers = [KeptCall(calls.ledger) for _ in spent]
    others = [KeptCall(calls.ledger) for _ in range(besides)]
    left = calls.ledger.calls_left
    share = left if left == math.inf else left // max(1, len(spent))
    parts = max(1, len(spent) + besides * _WRITING)
    tokens, cost = calls.ledger.tokens_left / parts, calls.ledger.cost_left / parts
    purses = tuple(
        Purse.of(calls, budget, spent=before, share=share, tokens=tokens, cost=cost, kept=call)
        for before, call in zip(spent, writers, strict=True)
    )
    return purses, others
