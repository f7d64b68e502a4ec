"""Results for a person at a terminal; plain text when the output is a pipe."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from sifaka.chain import RunResult
from sifaka.record.diff import Hunk
from sifaka.record.events import ChainEvent
from sifaka.record.results import Issue, ValidationResult
from sifaka_mcp.schemas.texts import NOBODY_ASKED
from sifaka_mcp.view.lines import flat, short, visible

_FRAMES = 12.5
"""Of the spinner, a second."""
_CONTEXT = 40
"""Characters shown of an unchanged stretch on either side of a change."""


class TerminalProgress:
    """The step of a run, on one line that is removed at the end; silent in a pipe."""

    def __init__(self, stream: TextIO) -> None:
        console = Console(file=stream)
        self.spinner = Spinner("dots", Text("starting"), style="status.spinner")
        self._live = nullcontext()
        if console.is_terminal:
            self._live = Live(
                get_renderable=self.lines,
                console=console,
                transient=True,
                refresh_per_second=_FRAMES,
            )

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def lines(self) -> RenderableType:
        """The step as it stands."""
        return self.spinner

    async def show(self, event: ChainEvent) -> None:
        """Show an event."""
        await self.tell(f"{event.phase}: {event.message}")

    async def tell(self, line: str) -> None:
        """Show a line about work that is no run."""
        self.spinner.update(text=Text(flat(line)))


def show_run(result: RunResult, stream: TextIO, *, show_text: bool) -> None:
    """Print a run: its changes with their reasons, the text, the verdicts, what is left.

    Where the text is printed the changes are a list; otherwise they are marked in the text.
    """
    console = Console(file=stream, highlight=False, soft_wrap=True)
    original = result.run.original
    if original is not None and result.changed and original.text:
        show = _list_changes if show_text else show_changes
        show(result.diff, console)
    if show_text:
        console.print(Text(visible(result.text.rstrip("\n"))))
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


def _list_changes(hunks: Sequence[Hunk], console: Console) -> None:
    """Print each change on a line of its own, and a blank line after them."""
    for hunk in hunks:
        if hunk.op == "equal":
            continue
        line = Text()
        line.append(repr(short(hunk.before)), style="red")
        line.append(" -> ")
        line.append(repr(short(hunk.after)), style="green")
        line.append(f"  ({flat(hunk.reason or NOBODY_ASKED)})", style="dim italic")
        console.print(line)
    console.print()


def _notes(result: RunResult) -> Iterator[str]:
    """The versions that were not kept, and what was not checked."""
    decisions = result.run.decisions
    if result.turned_down and not result.changed:
        yield "every version was turned down:"
    for version in result.turned_down:
        reason = flat(decisions[version.id].reason)
        yield f"turned down: version {version.iteration} by {flat(version.author)}: {reason}"
    for check in result.checked:
        if not check.done:
            yield f"not checked: {check.what}: {flat(check.reason or 'no verdict')}"


def show_changes(hunks: Sequence[Hunk], console: Console) -> None:
    """Print a word diff: what went struck out, what came underlined, why in brackets."""
    line = Text()
    for hunk in hunks:
        if hunk.op == "equal":
            line.append(visible(_shortened(hunk.before)))
            continue
        if hunk.before:
            line.append(f"[-{visible(hunk.before)}-]", style="red strike")
        if hunk.after:
            line.append(f"{{+{visible(hunk.after)}+}}", style="green")
        line.append(f" ({visible(hunk.reason or NOBODY_ASKED)})", style="dim italic")
    console.print(line)


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


def _shortened(text: str) -> str:
    """An unchanged stretch, its middle left out when it is long and spans no structure."""
    if len(text) <= 4 * _CONTEXT:
        return text
    return f"{text[:_CONTEXT]} [...] {text[-_CONTEXT:]}"
