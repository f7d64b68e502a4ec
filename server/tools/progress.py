"""Saying what is being done while a request waits."""

from collections.abc import Mapping
from types import MappingProxyType

from server.tools.answer import ToolContext
from sifaka.chain import Listener
from sifaka.entries import Called, ChainConfig, Started
from sifaka.events import ChainEvent, Phase
from sifaka.models import AUTO, CALLER
from sifaka.run import Run
from sifaka.selection import EDITOR

_ORDER: Mapping[Phase, int] = MappingProxyType(
    {"generate": 0, "retrieve": 1, "validate": 2, "critique": 3, "select": 4}
)
_STEPS = 2 * len(_ORDER)
"""Of one round: each phase begins, and has been done."""


class Steps:
    """How far a run has come on its way through the phases of all its iterations.

    Most runs need fewer iterations: the end is then reached in one step.

    Args:
        run: As it is at first.
    """

    def __init__(self, run: Run) -> None:
        self.total = _STEPS * (_rounds(run.config) + 1) + 1
        """What the run takes if it needs all its iterations."""
        self._run = run
        self._reached = -1

    def advance(self, event: ChainEvent) -> int | None:
        """How many steps lie behind, once an event has happened; None when it brings no new one."""
        self._run = event.run or self._run
        if isinstance(event.entry, Started | Called):
            return None  # they belong to no phase
        reached = self._place(event)
        if reached <= self._reached:
            return None
        self._reached = reached
        return reached

    def _place(self, event: ChainEvent) -> int:
        if event.phase == "stop":
            return self.total
        done = event.entry is not None
        begins = event.phase == "generate" and not done and self._run.original is not None
        rounds = self._run.iterations + begins
        step = 2 * _ORDER.get(event.phase, 0) + done
        return min(rounds * _STEPS + step, self.total - 1)


def reporter(ctx: ToolContext, run: Run) -> Listener:
    """A listener that reports the phases of a run as progress of the request."""
    steps = Steps(run)

    async def report(event: ChainEvent) -> None:
        reached = steps.advance(event)
        if reached is not None:
            await ctx.report_progress(reached, steps.total, f"{event.phase}: {event.message}")

    return report


def _rounds(config: ChainConfig) -> int:
    """How many rounds of writing follow the first version at most, as a rule."""
    edits_first = config.model in {AUTO, CALLER, EDITOR}
    return config.max_iterations + edits_first
