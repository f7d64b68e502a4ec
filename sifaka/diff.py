"""What was changed between two texts, word by word, and which issue asked for it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from sifaka.immutable import Frozen
from sifaka.results import Issue

_TOKEN = re.compile(r"\s+|[^\W_]+|.", re.DOTALL)
_LARGEST_BLOCK = 4_000
"""Tokens up to which a changed block is compared word by word; the cost grows with the square."""


class Hunk(Frozen):
    """One stretch of the first text and what stands in its place in the second."""

    op: Literal["equal", "insert", "delete", "replace"]
    before: str
    after: str
    start: int
    """Offset in the first text."""
    reason: str | None = None
    """The issue that asked for the change; None when none did."""


def diff(before: str, after: str, issues: Iterable[Issue] = ()) -> tuple[Hunk, ...]:
    """The hunks that lead from one text to the other, in order, equal stretches included.

    Args:
        before: The text the issues are about.
        after: The text made of it.
        issues: What was found in `before`; a changed hunk takes the message of the issue whose
            place it touches, or whose quote it contains.
    """
    found = tuple(issues)
    hunks: list[Hunk] = []
    position = 0
    for op, old, new in _merged(_words(before, after)):
        reason = None if op == "equal" else _reason(position, old, found)
        hunks.append(Hunk(op=op, before=old, after=new, start=position, reason=reason))
        position += len(old)
    return tuple(hunks)


_Piece = tuple[Literal["equal", "insert", "delete", "replace"], str, str]


def _words(before: str, after: str) -> Iterator[_Piece]:
    """Lines first, then the words of the lines that differ: long texts stay affordable."""
    old_lines, new_lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for op, old, new in _opcodes(old_lines, new_lines):
        if op != "replace":
            yield op, old, new
            continue
        old_words, new_words = _TOKEN.findall(old), _TOKEN.findall(new)
        if len(old_words) * len(new_words) > _LARGEST_BLOCK**2:
            yield op, old, new
        else:
            yield from _opcodes(old_words, new_words)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[_Piece]:
    for op, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield op, "".join(old[i:j]), "".join(new[k:m])


def _merged(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Changes with nothing but white space between them, as one change."""
    pending: list[_Piece] = []
    for piece in pieces:
        pending.append(piece)
        if piece[0] == "equal" and (piece[1].strip() or "\n" in piece[1]):
            yield from _joined(pending)
            pending = []
    yield from _joined(pending)


def _joined(pieces: list[_Piece]) -> Iterator[_Piece]:
    changed = [n for n, piece in enumerate(pieces) if piece[0] != "equal"]
    if not changed:
        yield from pieces
        return
    first, last = changed[0], changed[-1] + 1
    yield from pieces[:first]
    old = "".join(piece[1] for piece in pieces[first:last])
    new = "".join(piece[2] for piece in pieces[first:last])
    yield ("insert" if not old else "delete" if not new else "replace"), old, new
    yield from pieces[last:]


def _reason(start: int, old: str, issues: Sequence[Issue]) -> str | None:
    end = start + len(old)
    asked: list[tuple[int, int, str]] = []
    for issue in issues:
        if issue.start is None or issue.end is None or issue.start > end or start > issue.end:
            continue
        shared = min(end, issue.end) - max(start, issue.start)
        # What covers most of the change asked for it; of several, the one that is about least else.
        asked.append((-shared, issue.end - issue.start, issue.message))
    return min(asked)[2] if asked else None
