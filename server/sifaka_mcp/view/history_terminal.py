"""Past runs for a person at a terminal, in rows that fit it."""

from datetime import datetime, timedelta
from typing import TextIO

from rich.console import Console
from rich.text import Text

from sifaka_mcp.safe_text import flat
from sifaka_mcp.schemas.history import HistoryOut, RunLine

_UNITS = (
    (timedelta(days=365), "year"),
    (timedelta(days=30), "month"),
    (timedelta(weeks=1), "week"),
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
    (timedelta(minutes=1), "minute"),
)
_LEAST = 25
"""Columns that are left for the words of a row; with fewer they get a line of their own."""
_WIDE = 100
"""Columns of a terminal from which a row tells the number of versions too."""
_STATES = {
    "needs_revision": ("waiting", "cyan"),
    "running": ("running", "cyan"),
    "failed": ("failed", "red"),
    "cancelled": ("cancelled", "yellow"),
}


def ago(moment: datetime, now: datetime) -> str:
    """The time since a moment as people say it: `2 hours ago`, `yesterday`, `3 weeks ago`."""
    passed = now - moment
    for length, name in _UNITS:
        count = passed // length
        if count == 1 and name == "day":
            return "yesterday"
        if count >= 1:
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"


def show_rows(out: HistoryOut, stream: TextIO, *, now: datetime) -> None:
    """Print the runs or the texts that were found, in rows that fit the terminal.

    Args:
        out: The answer.
        stream: The terminal.
        now: The time that times are told from.
    """
    console = Console(file=stream, highlight=False)
    for row in out.runs or []:
        _show_row(row.run_id, _about(row, now, console.width), row.excerpt.raw, console)
    if out.hits is not None:
        console.print(Text(f"search: {out.search}", style="dim"))
        for hit in out.hits:
            _show_row(hit.thought_id, _when(hit.created_at, now), hit.snippet.raw, console)
    if not any((out.runs, out.hits)):
        console.print("nothing found")
    for line in out.degraded:
        console.print(Text(f"degraded: {line}", style="yellow"))
    if out.next_cursor:
        console.print(Text(f"more: --cursor {out.next_cursor}"), soft_wrap=True)


def _about(row: RunLine, now: datetime, width: int) -> Text:
    """The time, the state and, on a wide terminal, the versions of a run, in columns."""
    judged = ("passed", "green") if row.passed else ("not passed", "yellow")
    state, style = _STATES.get(row.status, judged)
    about = Text.assemble(_when(row.updated_at, now), "  ", (f"{state:<10}", style))
    if width >= _WIDE:
        versions = f"{row.iterations + 1} version{'s' if row.iterations else ''}"
        about.append(f"  {versions:>11}")
    return about


def _when(moment: str, now: datetime) -> Text:
    return Text(f"{ago(datetime.fromisoformat(moment), now):<14}")


def _show_row(name: str, about: Text, words: str, console: Console) -> None:
    """Print a row of at most the terminal's width; a long name has a line of its own."""
    width = console.width
    name = flat(name)
    line = Text.assemble((name, "bold"), "  ", about)
    if width - line.cell_len < _LEAST:
        _print_cut(Text(name, style="bold"), console)
        line = Text.assemble("  ", about)
    line.append(f"  {flat(words)}", style="dim")
    _print_cut(line, console)


def _print_cut(line: Text, console: Console) -> None:
    """Print as much of a line as fits the terminal."""
    console.print(line, no_wrap=True, overflow="ellipsis")
