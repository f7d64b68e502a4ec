"""The progress of work at a terminal: `3/7 critiquing version 2 - 0:00:14 - 12 calls - $0.004`."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

from sifaka.extras import installed
from sifaka.models import AUTO, CALLER
from sifaka.record.entries import Called, ChainConfig, Started
from sifaka.record.run import ChainEvent, Phase, Run
from sifaka.record.thought import EDITOR
from sifaka.record.usage import Usage
from sifaka_mcp.safe_text import flat

if TYPE_CHECKING:
    from rich.console import RenderableType

_FRAMES = 12.5
"""Of the spinner, a second."""
_DOING: Mapping[Phase, str] = MappingProxyType(
    {
        "research": "researching",
        "retrieve": "searching documents for",
        "generate": "writing",
        "validate": "validating",
        "critique": "critiquing",
        "select": "comparing",
        "recover": "recovering",
        "stop": "finishing",
    }
)


def most_rounds(config: ChainConfig) -> int:
    """The usual maximum of rounds of writing after the first version."""
    edits_first = config.model in {AUTO, CALLER, EDITOR} and config.inquiry is None
    return config.max_iterations + edits_first


def spent(usage: Usage) -> str:
    """The calls and their cost: `12 calls - $0.004`; no cost where nothing was called."""
    calls = f"{usage.model_calls} call{'' if usage.model_calls == 1 else 's'}"
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.3f}"
    return f"{calls} - {cost}" if usage.model_calls else calls


class TerminalProgress(ExitStack):
    """The step of a run, on one line that is removed at the end; silent in a pipe or without Rich.

    Args:
        stream: Where it is shown.
        run: The run, where it is known; `show` learns it from its events otherwise.
        clock: Seconds.
    """

    def __init__(
        self, stream: TextIO, run: Run | None = None, *, clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__()
        self.run = run
        self._clock, self._since = clock, clock()
        self._step = "starting"
        if not installed("rich"):
            return
        # The server takes its numbers from this module, and shows nothing at a terminal.
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        console = Console(file=stream)
        self._spinner = Spinner("dots", style="status.spinner")
        if console.is_terminal:
            self.enter_context(
                Live(
                    get_renderable=self._render,
                    console=console,
                    transient=True,
                    refresh_per_second=_FRAMES,
                )
            )

    def _render(self) -> "RenderableType":
        from rich.text import Text

        self._spinner.text = Text(self.line(), no_wrap=True, overflow="ellipsis")
        return self._spinner

    def line(self) -> str:
        """The step, the time since the work began here and, of a run, what it has spent."""
        amounts = [] if self.run is None else [spent(self.run.usage)]
        return " - ".join(
            [self._step, str(timedelta(seconds=int(self._clock() - self._since))), *amounts]
        )

    async def show(self, event: ChainEvent) -> None:
        """Show an event of the run."""
        self.run = event.run or self.run
        if not isinstance(event.entry, Started | Called):  # they belong to no phase
            self._step = self._step_of(event)

    async def tell(self, line: str) -> None:
        """Show a line about work that is no run."""
        self._step = flat(line)

    def _step_of(self, event: ChainEvent) -> str:
        """The round of its run's maximum, the phase, and the version it is about."""
        doing, run = _DOING[event.phase], self.run
        if event.phase == "research":
            return f"{doing}: {flat(event.message)}"
        if event.phase in {"recover", "stop"}:
            return doing
        # A version that is still to be written has the next number.
        has_original = run is not None and run.original is not None
        begins = has_original and event.phase == "generate" and event.entry is None
        version = f"{doing} version {event.iteration + begins}"
        if run is None:
            return version
        total = most_rounds(run.config) + 1
        return f"{min(run.iterations + begins + 1, total)}/{total} {version}"
