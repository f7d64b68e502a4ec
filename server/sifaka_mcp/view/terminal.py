"""Results for a person at a terminal; plain text when the output is a pipe."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from sifaka.chain.brief import Door
from sifaka.record.diff import Hunk
from sifaka_mcp.safe_text import because, section, visible
from sifaka_mcp.schemas.runs import TextOut, out_of
from sifaka_mcp.schemas.verdicts import ValidationOut
from sifaka_mcp.view.console import Console, Text
from sifaka_mcp.view.edits import edits
from sifaka_mcp.view.text import (
    RESEARCHED,
    degraded_lines,
    issue_lines,
    research_lines,
    turned_down_lines,
    unchecked_lines,
    verdict_lines,
)

if TYPE_CHECKING:
    from sifaka.chain import RunResult

_STYLES = {"pass": "green", "FAIL": "red", "not": "yellow", "fail": "yellow"}
"""By the word that a verdict's line begins with."""
MOST_CHANGES = 1_000
"""Changes that are shown; `--json` has all."""
_CONTEXT = 40
"""Characters shown of an unchanged stretch on either side of a change."""


def shell_door(command: Callable[..., str], run_id: str) -> Door:
    """The commands that go on with a run, made of the words behind `sifaka`."""
    write, keep, answer = (
        f"`{command('submit', run_id, *words)}`"
        for words in (["FILE"], ["--accept"], ["--reason", "WHY"])
    )
    return Door(write, end=keep, keep=keep, answer=answer, note="")


def show_run(
    result: "RunResult", stream: TextIO, command: Callable[..., str], *, show_text: bool
) -> None:
    """Print a run: its changes with their reasons, the text, the verdicts, what is left.

    Where the text is printed the changes are a list; otherwise they are marked in the text.
    """
    console = Console(file=stream, highlight=False, soft_wrap=True)
    out, original = out_of(result, TextOut()), result.run.original
    if isinstance(out, RESEARCHED):
        _print_lines([*research_lines(out.research), ""], console, "")
    if original is not None and result.changed and original.text:
        print_changes = list_changes if show_text else show_changes
        print_changes(result.diff, console)
    if show_text:
        # A long text takes the console more time than all that was done for it.
        print(visible(result.text.rstrip("\n").replace("\r\n", "\n")), file=stream)
    show_verdicts(out.validation_results, stream, issues=False)
    if out.left:
        console.print()
        _print_lines(section("left for you", issue_lines(out.left)), console, "")
    notes = (
        *turned_down_lines(out),
        *section("not checked", unchecked_lines(out.checked)),
        *section("degraded", degraded_lines(out.degraded)),
    )
    _print_lines(notes, console, "yellow")
    history = command("history", result.run_id)
    if brief := result.brief_at(shell_door(command, result.run_id)):
        is_fixable = any(each.fix is not None and not each.safe for each in brief.issues)
        steps = [
            "",
            *((brief.instructions, *(f"  {line}" for line in brief.sheet)) if history else ()),
            *(("suggested fixes: --suggestions makes them, --review asks for each",) * is_fixable),
            "a model as the writer: --model provider:name",
        ]
        _print_lines(steps, console, "cyan")
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
    if history:
        console.print(Text(f"history: {history}", style="dim"))


def show_verdicts(results: Iterable[ValidationOut], stream: TextIO, *, issues: bool = True) -> None:
    """Print the verdicts, each with what to do where it fails, and its issues if wanted."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    lines = list(verdict_lines(results, issues=issues))
    if lines:
        console.print()
    for line in lines:
        _print_lines([line], console, _STYLES.get(line.split()[0], ""))


def _print_lines(lines: Iterable[str], console: Console, style: str) -> None:
    for line in lines:
        console.print(Text(visible(line), style=style))


def list_changes(hunks: Sequence[Hunk], console: Console) -> None:
    """Print each edit on a line of its own, and a blank line after them."""
    changes = [hunk for hunk in edits(hunks) if hunk.op != "equal"]
    for hunk in changes[:MOST_CHANGES]:
        console.print(
            Text.assemble(
                (repr(_shorten(hunk.before, 2 * _CONTEXT)), "red"),
                " -> ",
                (repr(_shorten(hunk.after, 2 * _CONTEXT)), "green"),
                (because(hunk.reason), "dim italic"),
            ),
            soft_wrap=not console.is_terminal,
        )
    _print_rest(len(changes), console)
    console.print()


def show_changes(hunks: Sequence[Hunk], console: Console) -> None:
    """Print a word diff: what went struck out, what came underlined, why in brackets.

    At a terminal lines end between words.
    """
    text = Text()
    hunks = edits(hunks)
    changes = [at for at, hunk in enumerate(hunks) if hunk.op != "equal"]
    for hunk in hunks[: changes[MOST_CHANGES] if len(changes) > MOST_CHANGES else None]:
        if hunk.op == "equal":
            if text and hunk.before[:1].isalnum():
                text.append(" ")  # what is in brackets is no part of the word
            text.append(visible(_shorten(hunk.before, 4 * _CONTEXT)))
            continue
        if hunk.before:
            text.append(f"[-{visible(hunk.before)}-]", style="red strike")
        if hunk.after:
            text.append(f"{{+{visible(hunk.after)}+}}", style="green")
        text.append(because(hunk.reason), style="dim italic")
    console.print(text, soft_wrap=not console.is_terminal)
    _print_rest(len(changes), console)


def _print_rest(count: int, console: Console) -> None:
    if count > MOST_CHANGES:
        console.print(
            Text(f"and {count - MOST_CHANGES:,} more changes; --json has all", style="dim")
        )


def _shorten(text: str, most: int) -> str:
    """The text, its middle left out, from word to word or line to line, when it is longer."""
    if len(text) <= most:
        return text
    head, rest, tail = text[:_CONTEXT], text[_CONTEXT:-_CONTEXT], text[-_CONTEXT:]
    if "\n" in rest[: 2 * _CONTEXT] and "\n" in rest[-2 * _CONTEXT :]:
        first, last = rest.partition("\n")[0], rest.rpartition("\n")[2]
        return f"{head}{first}\n[...]\n{last}{tail}"
    if not rest[0].isspace():
        head = head[: head.rfind(" ") + 1] or head
    if not rest[-1].isspace():
        tail = tail[tail.find(" ") + 1 :]
    return f"{head.rstrip(' ')} [...] {tail.lstrip(' ')}"
