"""The changes of a text at a terminal."""

from collections.abc import Sequence

from sifaka.record.diff import Hunk
from sifaka_mcp.safe_text import because, visible
from sifaka_mcp.view.console import Console, Text
from sifaka_mcp.view.edits import edits, made

MOST = 1_000
"""Changes that are shown; `--json` has all."""
_CONTEXT = 40
"""Characters shown of an unchanged stretch on either side of a change."""


def list_changes(hunks: Sequence[Hunk], console: Console) -> None:
    """Print each edit on a line of its own, and a blank line after them."""
    changes = [hunk for hunk in edits(hunks) if hunk.op != "equal"]
    for hunk in changes[:MOST]:
        line = Text.assemble(
            (repr(_ends(hunk.before, 2 * _CONTEXT)), "red"),
            " -> ",
            (repr(_ends(hunk.after, 2 * _CONTEXT)), "green"),
            (because(hunk.reason), "dim italic"),
        )
        console.print(line, soft_wrap=not console.is_terminal)
    _tell_the_rest(len(changes), console)
    console.print()


def show_changes(hunks: Sequence[Hunk], console: Console) -> None:
    """Print a word diff: what went struck out, what came underlined, why in brackets.

    At a terminal lines end between words.
    """
    text = Text()
    hunks = _with_spaces_first(edits(hunks))
    changes = [at for at, hunk in enumerate(hunks) if hunk.op != "equal"]
    for hunk in hunks[: changes[MOST] if len(changes) > MOST else None]:
        if hunk.op == "equal":
            if text and hunk.before[:1].isalnum():
                text.append(" ")  # what is in brackets is no part of the word
            text.append(visible(_ends(hunk.before, 4 * _CONTEXT)))
            continue
        if hunk.before:
            text.append(f"[-{visible(hunk.before)}-]", style="red strike")
        if hunk.after:
            text.append(f"{{+{visible(hunk.after)}+}}", style="green")
        text.append(because(hunk.reason), style="dim italic")
    console.print(text, soft_wrap=not console.is_terminal)
    _tell_the_rest(len(changes), console)


def _tell_the_rest(count: int, console: Console) -> None:
    if count > MOST:
        console.print(Text(f"and {count - MOST:,} more changes; --json has all", style="dim"))


def _with_spaces_first(changes: Sequence[Hunk]) -> list[Hunk]:
    """The hunks, where words go or come with the space before them, not with the one behind."""
    hunks = list(changes)
    for at in range(len(hunks) - 1):
        hunk, following = hunks[at], hunks[at + 1]
        words = hunk.before + hunk.after
        moves = hunk.op in {"insert", "delete"} and words.strip() and words.endswith(" ")
        if not moves or following.op != "equal":
            continue
        space = ""
        if at and hunks[at - 1].op == "equal" and hunks[at - 1].before.endswith(" "):
            hunks[at - 1] = made(hunks[at - 1], *(hunks[at - 1].before[:-1],) * 2)
            space = " "
        sides = (side and space + side[:-1] for side in (hunk.before, hunk.after))
        hunks[at] = made(hunk, *sides, shift=-len(space))
        hunks[at + 1] = made(following, *(" " + following.before,) * 2, shift=-1)
    return hunks


def _ends(text: str, most: int) -> str:
    """The text, its middle left out, from word to word or line to line, when it is longer."""
    if len(text) <= most:
        return text
    head, rest = text[:_CONTEXT], text[_CONTEXT:-_CONTEXT]
    tail = text[-_CONTEXT:]
    if "\n" in rest[: 2 * _CONTEXT] and "\n" in rest[-2 * _CONTEXT :]:
        head += rest.partition("\n")[0]
        tail = rest.rpartition("\n")[2] + tail
        return f"{head}\n[...]\n{tail}"
    if not rest[0].isspace():
        head = head[: head.rfind(" ") + 1] or head
    if not rest[-1].isspace():
        tail = tail[tail.find(" ") + 1 :]
    return f"{head.rstrip(' ')} [...] {tail.lstrip(' ')}"
