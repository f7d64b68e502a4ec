"""The changes of a text as a person reads them: whole words, one reason for each edit."""

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sifaka.record.diff import Hunk
from sifaka_mcp.schemas.texts import NOBODY_ASKED
from sifaka_mcp.view.lines import flat, visible

_CONTEXT = 40
"""Characters shown of an unchanged stretch on either side of a change."""
_GAP = 3
"""Words between two changes that are still one edit when both have the same reason."""
_BEGINNING = re.compile(r"[\w'’]*\w")
_END = re.compile(r"\w[\w'’]*\Z")
_WORD = re.compile(r"\s*(?:\[-\s+-\]|\{\+\s+\+\}|\S)+")
"""What stays on one line; spaces that went or came are marked and stay with their marks."""


def edits(hunks: Iterable[Hunk]) -> list[Hunk]:
    """The hunks with whole words in them; what one reason has changed close by is one hunk."""
    whole: list[Hunk] = []
    for each in hunks:
        hunk = each
        if hunk.op == "equal" and whole and whole[-1].op == "equal":
            hunk = _joined(whole.pop(), hunk)
        elif hunk.op != "equal" and len(whole) > 1 and _one_edit(whole[-2], whole[-1], hunk):
            between, first = whole.pop(), whole.pop()
            hunk = _joined(first, between, hunk)
        whole.append(hunk)
    for at in range(len(whole)):
        if whole[at].op != "equal":
            _take_whole_words(whole, at)
    return [hunk for hunk in whole if hunk.op != "equal" or hunk.before]


def list_changes(hunks: Sequence[Hunk], console: Console) -> None:
    """Print each edit on a line of its own, and a blank line after them."""
    for hunk in edits(hunks):
        if hunk.op == "equal":
            continue
        line = Text()
        line.append(repr(_ends(hunk.before, 2 * _CONTEXT)), style="red")
        line.append(" -> ")
        line.append(repr(_ends(hunk.after, 2 * _CONTEXT)), style="green")
        line.append(f"  ({_reason(hunk)})", style="dim italic")
        show(line, console, indent=4)
    console.print()


def show_changes(hunks: Sequence[Hunk], console: Console) -> None:
    """Print a word diff: what went struck out, what came underlined, why in brackets.

    At a terminal lines end between words.
    """
    text = Text()
    for hunk in _with_spaces_first(edits(hunks)):
        if hunk.op == "equal":
            if text and hunk.before[:1].isalnum():
                text.append(" ")  # what is in brackets is no part of the word
            text.append(visible(_ends(hunk.before, 4 * _CONTEXT)))
            continue
        if hunk.before:
            text.append(f"[-{visible(hunk.before)}-]", style="red strike")
        if hunk.after:
            text.append(f"{{+{visible(hunk.after)}+}}", style="green")
        text.append(f" ({_reason(hunk)})", style="dim italic")
    show(text, console)


def show(text: Text, console: Console, indent: int = 0) -> None:
    """Print a text whose lines, at a terminal, end between words.

    Args:
        text: The text.
        console: Where to.
        indent: Columns by which what goes on in the next line is set in.
    """
    for line in text.split("\n", allow_blank=True):
        parts = _wrapped(line, console.width, indent) if console.is_terminal else [line]
        for part in parts:
            console.print(part, soft_wrap=True)


def _wrapped(line: Text, width: int, indent: int) -> Iterator[Text]:
    """The line in parts of at most so many columns, unless a single word has more."""
    ends: list[int] = []
    filled = 0
    for word in _WORD.finditer(line.plain):
        columns = cell_len(word[0])
        if filled and filled + columns > width:
            ends.append(word.end() - len(word[0].lstrip()))
            columns, filled = cell_len(word[0].lstrip()), indent
        filled += columns
    for number, part in enumerate(line.divide(ends)):
        part.rstrip()
        yield Text(" " * indent).append_text(part) if number and indent else part


def _one_edit(first: Hunk, between: Hunk, second: Hunk) -> bool:
    return (
        first.op != "equal"
        and between.op == "equal"
        and first.reason == second.reason
        and "\n" not in between.before
        and len(between.before.split()) <= _GAP
    )


def _joined(*hunks: Hunk) -> Hunk:
    """Hunks that follow each other, as one."""
    return _made(
        hunks[0], "".join(each.before for each in hunks), "".join(each.after for each in hunks)
    )


def _made(hunk: Hunk, before: str, after: str, *, shift: int = 0) -> Hunk:
    op = "equal" if hunk.op == "equal" else _op(before, after)
    told = {"op": op, "before": before, "after": after, "start": hunk.start + shift}
    return hunk.model_copy(update=told)


def _op(before: str, after: str) -> str:
    return "insert" if not before else "delete" if not after else "replace"


def _take_whole_words(hunks: list[Hunk], at: int) -> None:
    """Take the rest of a word that a change begins or ends in from the words beside it."""
    left = hunks[at - 1].before if at and hunks[at - 1].op == "equal" else ""
    right = hunks[at + 1].before if at + 1 < len(hunks) and hunks[at + 1].op == "equal" else ""
    hunk = hunks[at]
    sides = (hunk.before, hunk.after)
    head = _END.search(left)
    if head and any(_BEGINNING.match(side or right) for side in sides):
        hunks[at - 1] = _made(hunks[at - 1], *(left[: head.start()],) * 2)
        hunk = _made(hunk, *(head[0] + side for side in sides), shift=-len(head[0]))
    tail = _BEGINNING.match(right)
    if tail and any(_END.search(side or left) for side in (hunk.before, hunk.after)):
        hunks[at + 1] = _made(hunks[at + 1], *(right[tail.end() :],) * 2, shift=tail.end())
        hunk = _made(hunk, hunk.before + tail[0], hunk.after + tail[0])
    hunks[at] = hunk


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
            hunks[at - 1] = _made(hunks[at - 1], *(hunks[at - 1].before[:-1],) * 2)
            space = " "
        sides = (side and space + side[:-1] for side in (hunk.before, hunk.after))
        hunks[at] = _made(hunk, *sides, shift=-len(space))
        hunks[at + 1] = _made(following, *(" " + following.before,) * 2, shift=-1)
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


def _reason(hunk: Hunk) -> str:
    return flat(hunk.reason or NOBODY_ASKED)
