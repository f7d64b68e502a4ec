"""Results for a person at a terminal; plain text when the output is a pipe."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from sifaka_mcp.safe_text import section, visible
from sifaka_mcp.schemas.research import out_of
from sifaka_mcp.schemas.texts import TextOut
from sifaka_mcp.schemas.verdicts import ValidationOut
from sifaka_mcp.view.console import Console, Text
from sifaka_mcp.view.text import (
    degraded_lines,
    issue_lines,
    turned_down_lines,
    unchecked_lines,
    verdict_lines,
)

if TYPE_CHECKING:
    from sifaka.chain import RunResult

_STYLES = {"pass": "green", "FAIL": "red", "not": "yellow", "fail": "yellow"}
"""By the word that a verdict's line begins with."""


def show_run(result: "RunResult", stream: TextIO, *, show_text: bool) -> None:
    """Print a run: its changes with their reasons, the text, the verdicts, what is left.

    Where the text is printed the changes are a list; otherwise they are marked in the text.
    """
    console = Console(file=stream, highlight=False, soft_wrap=True)
    original = result.run.original
    if original is not None and result.changed and original.text:
        from sifaka_mcp.view.changes import list_changes, show_changes

        tell = list_changes if show_text else show_changes
        tell(result.diff, console)
    if show_text:
        # A long text takes the console more time than all that was done for it.
        print(visible(result.text.rstrip("\n").replace("\r\n", "\n")), file=stream)
    out = out_of(result, TextOut())
    show_verdicts(out.validation_results, stream, issues=False)
    if out.left:
        console.print()
        _print(section("left for you", issue_lines(out.left)), console, "")
    notes = [
        *turned_down_lines(out),
        *section("not checked", unchecked_lines(out.checked)),
        *section("degraded", degraded_lines(out.degraded)),
    ]
    _print(notes, console, "yellow")
    if result.brief:
        waiting = (
            f"a writer is needed: write the next version, then sifaka submit {result.run_id} FILE; "
            "or let a model write it: --model provider:name"
        )
        console.print(Text(f"\n{waiting}", style="cyan"))
    passed = "passing" if result.passed else "not passing"
    if result.stop_reason == "rules_met":
        passed = "nobody judged the meaning"
    usage = result.usage
    console.print(
        Text(
            f"\n{result.status} ({result.stop_reason}), {passed}, "
            f"versions: {result.run.iterations + 1}, model calls: {usage.model_calls}, "
            f"{usage.seconds:.2f} s",
            style="bold",
        )
    )
    console.print(Text(f"history: sifaka history {result.run_id}", style="dim"))


def show_verdicts(results: Iterable[ValidationOut], stream: TextIO, *, issues: bool = True) -> None:
    """Print the verdicts, each with what to do where it fails, and its issues if wanted."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    lines = list(verdict_lines(results, issues=issues))
    if lines:
        console.print()
    for line in lines:
        _print([line], console, _STYLES.get(line.split()[0], ""))


def _print(lines: Iterable[str], console: Console, style: str) -> None:
    for line in lines:
        console.print(Text(visible(line), style=style))
