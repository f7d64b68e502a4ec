"""The progress of a run, as its request is told of it."""

from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from types import MappingProxyType

from sifaka.chain import Listener
from sifaka.record.entries import Called, Started
from sifaka.record.research_question import Inquiry
from sifaka.record.run import ChainEvent, Phase, Run
from sifaka_mcp.tools.answer import ToolContext
from sifaka_mcp.view.progress import most_rounds

_ORDER: Mapping[Phase, int] = MappingProxyType(
    {"generate": 0, "retrieve": 1, "validate": 2, "critique": 3, "select": 4}
)
_STEPS = 2 * len(_ORDER)
"""Of one round: each phase begins, and has been done."""
_SEARCHES = 6
"""Steps of one iteration of research that are told, and of its section besides."""


class Steps:
    """The progress of a run through the phases of all its iterations.

    Most runs need fewer iterations: the end is then reached in one step.

    Args:
        run: As it is at first.
    """

    def __init__(self, run: Run) -> None:
        self._research = _research(run.config.inquiry)
        self.total = self._research + _STEPS * (most_rounds(run.config) + 1) + 1
        """The number of steps if the run needs all its iterations."""
        self._told = 0
        self._run = run
        self._reached = -1

    def advance(self, event: ChainEvent) -> int | None:
        """The number of steps done after an event; None when it completes no new one."""
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
        if event.phase == "research":  # sections go on at the same time: each step of any counts
            self._told += 1
            return min(self._told, self._research) - 1
        done = event.entry is not None
        begins = event.phase == "generate" and not done and self._run.original is not None
        rounds = self._run.iterations + begins
        step = 2 * _ORDER.get(event.phase, 0) + done
        return min(self._research + rounds * _STEPS + step, self.total - 1)


def counter(ctx: ToolContext) -> Callable[[str], Awaitable[None]]:
    """Reports lines about work that is no run, of which nobody knows how many there will be."""
    numbers = count(1)
    return lambda line: ctx.report_progress(next(numbers), None, line)


async def announce(ctx: ToolContext, run: Run) -> None:
    """Report the id of a run as the first progress of the request: it is found by it then."""
    await ctx.report_progress(0, Steps(run).total + 1, f"run {run.run_id}")


def reporter(ctx: ToolContext, run: Run) -> Listener:
    """A listener that reports the phases of a run as progress of the request."""
    steps = Steps(run)

    async def report(event: ChainEvent) -> None:
        reached = steps.advance(event)
        if reached is not None:
            part = "" if event.section is None else f", section {event.section + 1}"
            told = f"{event.phase}{part}: {event.message}"
            await ctx.report_progress(reached + 1, steps.total + 1, told)

    return report


def _research(inquiry: Inquiry | None) -> int:
    """The usual maximum of steps before the first version."""
    if inquiry is None:
        return 0
    sections = 1 if inquiry.mode == "iterative" else inquiry.max_sections
    return _SEARCHES * sections * (inquiry.max_iterations + 1)
