"""The end of a research for a person at a terminal: what became of each section, and the run."""

from typing import TextIO

from sifaka.chain import RunResult
from sifaka_mcp.safe_text import flat
from sifaka_mcp.schemas.research import ResearchedOut
from sifaka_mcp.view.console import Console, Text
from sifaka_mcp.view.terminal import show_run

_MARKS = {"done": Text("done", style="green"), "failed": Text("FAIL", style="red")}


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
