"""Past runs for a person at a terminal: rows that fit it, and the climb of a run's scores."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TextIO

from rich.console import Console
from rich.text import Text

from sifaka.record.run import Run
from sifaka_mcp.safe_text import flat, visible
from sifaka_mcp.schemas.history import HistoryOut, RunLine, RunOut
from sifaka_mcp.view.changes import show
from sifaka_mcp.view.progress import duration
from sifaka_mcp.view.score import score_of
from sifaka_mcp.view.text import version_lines

_UNITS = (
    (timedelta(days=365), "year"),
    (timedelta(days=30), "month"),
    (timedelta(weeks=1), "week"),
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
    (timedelta(minutes=1), "minute"),
)
_BARS = "▁▂▃▄▅▆▇█"
_NO_SCORE = "·"
_LEAST = 25
"""Columns that are left for the words of a row; with fewer they get a line of their own."""
_WIDE = 100
"""Columns of a terminal from which a row tells the number of versions too."""
_BESIDE = len("scores    0.00 to 0.00, best 0.00  ")
"""Columns beside the bars."""
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


def sparkline(scores: Sequence[float | None]) -> str:
    """A bar for each score, from the lowest to the highest of them; a dot for none."""
    known = [score for score in scores if score is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    step = (high - low) / (len(_BARS) - 1) or 1.0
    return "".join(
        _NO_SCORE if score is None else _BARS[round((score - low) / step)] for score in scores
    )


def show_history(out: HistoryOut, run: Run | None, stream: TextIO, *, now: datetime) -> None:
    """Print what was found, in lines that fit the terminal.

    Args:
        out: The answer.
        run: The run whose versions it holds.
        stream: The terminal.
        now: The time that times are told from.
    """
    console = Console(file=stream, highlight=False)
    if out.run is not None and run is not None:
        _show_head(out.run, run, console, now)
    for thought in out.thoughts or []:
        console.print()
        for line in version_lines(thought):
            text = visible(line)
            show(Text(text), console, indent=len(text) - len(text.lstrip()) + 2)
        if thought.text is not None:
            console.print(Text(visible(thought.text.raw)), soft_wrap=True)
    for row in out.runs or []:
        _show_row(row.run_id, _about(row, now, console.width), row.excerpt.raw, console)
    if out.hits is not None:
        show(Text(f"search: {out.search}", style="dim"), console)
        for hit in out.hits:
            _show_row(hit.thought_id, _when(hit.created_at, now), hit.snippet.raw, console)
    if not any((out.run, out.runs, out.hits)):
        console.print("nothing found")
    for line in out.degraded:
        show(Text(f"degraded: {line}", style="yellow"), console, indent=2)
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


def _show_head(out: RunOut, run: Run, console: Console, now: datetime) -> None:
    """Print the state of a run and the climb of its scores."""
    reason = f" ({run.stop_reason})" if run.stop_reason else ""
    passed = "passed" if run.passed else "not passed"
    told = f"{ago(run.updated_at, now)}, {duration(run.usage.seconds)} of work"
    show(Text(f"{out.run_id}: {out.status}{reason}, {passed}, {told}", style="bold"), console, 2)
    champion = "" if out.champion_id is None else f"best version: {out.champion_id}"
    lines = [champion, f"branch of {out.branch_of}" if out.branch_of else ""]
    lines += [f"recovered: {line}" for line in out.recoveries]
    lines += [str(out.compared_with_original or "")]
    for line in filter(None, lines):
        show(Text(line), console, indent=2)
    _show_climb(run, console)


def _show_climb(run: Run, console: Console) -> None:
    """Print a bar for each version, refused ones dim, where the terminal is wide enough."""
    scores = [score_of(thought) for thought in run.thoughts]
    known = [score for score in scores if score is not None]
    room = console.width - _BESIDE
    if len(known) < 2 or room < len(scores) or not console.encoding.startswith("utf"):
        return
    line = Text("scores  ")
    champion = None
    for bar, score, thought in zip(sparkline(scores), scores, run.thoughts, strict=True):
        champion = score if thought.id == run.champion_id else champion
        decision = run.decisions.get(thought.id)
        refused = decision is not None and not decision.accepted
        line.append(bar, style="red dim" if refused else "green")
    line.append(f"  {min(known):.2f} to {max(known):.2f}")
    line.append("" if champion is None else f", best {champion:.2f}")
    console.print(line, soft_wrap=True)
