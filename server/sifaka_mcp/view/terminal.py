"""Results for a person at a terminal; plain text when the output is a pipe."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from sifaka.record.results import Issue, ValidationResult
from sifaka_mcp.view.console import Console, Table, Text
from sifaka_mcp.view.lines import flat, visible

if TYPE_CHECKING:
    from sifaka.chain import RunResult


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
    show_verdicts(result.validation_results, stream)
    _show_issues(result.left, console)
    for line in _notes(result):
        console.print(Text(visible(line), style="yellow"))
    for line in result.degraded:
        console.print(Text(f"degraded: {flat(line)}", style="yellow"))
    if result.brief:
        waiting = "a writer is needed: submit the next version over MCP with submit_revision"
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


def _notes(result: "RunResult") -> Iterator[str]:
    """The versions that were not kept, and what was not checked."""
    decisions = result.run.decisions
    if result.turned_down and not result.changed:
        yield "every version was turned down:"
    for version in result.turned_down:
        reason = flat(decisions[version.id].reason)
        yield f"turned down: version {version.iteration} by {flat(version.author)}: {reason}"
    for check in result.checked:
        if not check.done and check.what != "meaning":
            yield f"not checked: {check.what}: {flat(check.reason or 'no verdict')}"


def show_verdicts(results: Sequence[ValidationResult], stream: TextIO) -> None:
    """Print a table of verdicts, nothing when there are none."""
    if not results:
        return
    console = Console(file=stream, highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("verdict", "validator", "found", "to do"):
        table.add_column(column, overflow="fold")
    for result in results:
        verdict, style = ("pass", "green") if result.passed else ("FAIL", "red")
        if not result.passed and not result.required:
            verdict, style = "advice", "yellow"
        elif result.unchecked:
            verdict, style = "not checked", "yellow"
        to_do = "" if result.passed else "; ".join(result.suggestions)
        table.add_row(
            Text(verdict, style=style),
            Text(result.validator),
            Text(visible(result.message)),
            Text(visible(to_do)),
        )
    console.print()
    console.print(table)


def _show_issues(issues: Sequence[Issue], console: Console) -> None:
    if issues:
        console.print(Text("\nleft for you:", style="bold"))
    for issue in issues:
        fix = f" -> {issue.fix!r}" if issue.fix else ""
        console.print(Text(f"  {issue.quote[:60]!r}: {visible(issue.message)}{fix}"))
