"""Research for a person at a terminal: a line for each section while it goes on, and its end."""

from typing import TYPE_CHECKING, TextIO

from sifaka.chain import RunResult
from sifaka.record.events import ChainEvent
from sifaka.record.run import Run
from sifaka_mcp.safe_text import flat, short
from sifaka_mcp.schemas.research import ResearchedOut, SectionOut
from sifaka_mcp.view.console import Console, Text
from sifaka_mcp.view.progress import TerminalProgress
from sifaka_mcp.view.terminal import show_run

if TYPE_CHECKING:
    from rich.console import RenderableType

_MARKS = {"done": Text("done", style="green"), "failed": Text("FAIL", style="red")}
_LONGEST = 60
"""Characters of a section's title, and of what is being done for it."""


class ResearchProgress(TerminalProgress):
    """The step of each section, a line each, removed at the end; silent in a pipe."""

    def __init__(self, stream: TextIO, run: Run | None = None) -> None:
        self._sections: list[SectionOut] = []
        self._doing: dict[int, str] = {}
        super().__init__(stream, run)

    async def show(self, event: ChainEvent) -> None:
        """Show an event of the run."""
        await super().show(event)
        if event.run is not None and event.phase == "research":
            self._sections = ResearchedOut.of(RunResult(run=event.run)).sections
        if event.section is not None:
            self._doing[event.section] = flat(event.message)

    def lines(self) -> "RenderableType":
        """The sections as they stand, and what the whole run is doing."""
        from rich.console import Group
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        for number, section in enumerate(self._sections):
            mark = _MARKS.get(section.status.raw, Text(str(section.status), style="dim"))
            doing = short(self._doing.get(number, ""), _LONGEST)
            shown: RenderableType = self.spinner if section.status.raw == "running" else mark
            table.add_row(shown, Text(short(flat(section.title.raw), _LONGEST)), Text(doing, "dim"))
        return Group(table, Text(self.line(), no_wrap=True, overflow="ellipsis"))


def progress_of(run: Run, stream: TextIO) -> TerminalProgress:
    """The progress display of a run: by section while it still has to research."""
    researches = run.config.inquiry is not None and run.original is None
    return (ResearchProgress if researches else TerminalProgress)(stream, run)


def show_research(result: RunResult, stream: TextIO, *, show_text: bool) -> None:
    """Print a run of research: what became of each section, and the run as any other."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    out = ResearchedOut.of(result)
    for section in out.sections:
        mark = _MARKS.get(section.status.raw, Text(str(section.status), style="yellow"))
        line = Text.assemble(mark, "  ", flat(section.title.raw))
        console.print(line.append(f": {section.error}") if section.error else line)
    if out.stop_reasons:
        console.print(Text(f"stopped by: {', '.join(map(str, out.stop_reasons))}", style="yellow"))
    if out.sections:
        console.print()
    show_run(result, stream, show_text=show_text)
