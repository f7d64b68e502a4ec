"""The word diff of two texts, with the issue behind each change, and the edits that make it."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError
from sifaka.record.results import Issue

if TYPE_CHECKING:
    from difflib import SequenceMatcher
else:
    try:
        from cydifflib import SequenceMatcher
    except ImportError:  # the same, written in Python
        from difflib import SequenceMatcher

_TOKEN = re.compile(r"\s+|\d+(?:[.,:]\d+)+|[^\W_]+|.", re.DOTALL)
_SENTENCE = re.compile(r".+?(?:[.!?]\s+|\Z)", re.DOTALL)
_CAREFUL = 250_000
"""Pairs of pieces up to which the alignment that reads best is looked for; its cost can grow with
the cube of the length."""
_LARGEST = 400_000_000
"""Pairs of pieces up to which an alignment is looked for at all: about a second and 50 MB."""


class Hunk(Frozen):
    """One stretch of the first text and what is in its place in the second."""

    op: Literal["equal", "insert", "delete", "replace"]
    before: str
    after: str
    start: int
    """Offset in the first text."""
    reason: str | None = None
    """The issue that asked for the change; None when none did."""


Piece = tuple[Literal["equal", "insert", "delete", "replace"], str, str]
"""A stretch that was compared: what became of it, its text before and after."""


def diff(
    before: str, after: str, issues: Iterable[Issue] = (), pieces: Iterable[Piece] | None = None
) -> tuple[Hunk, ...]:
    """The hunks that lead from one text to the other, in order, equal stretches included.

    Args:
        before: The text the issues are about.
        after: The text made of it.
        issues: What was found in `before`; a changed hunk takes the message of the issue whose
            place it touches, or whose quote it contains.
        pieces: What comparing the texts has found, where that was done before: the pieces of
            `lines_diff`, and those of `words_diff` in the place of lines that differ.
    """
    reasons = Reasons(issues)
    hunks: list[Hunk] = []
    position = 0
    compared = words_diff(before, after, _LEVELS) if pieces is None else pieces
    for op, old, new in _merge(compared):
        reason = None if op == "equal" else reasons.of(position, position + len(old))
        hunks.append(Hunk(op=op, before=old, after=new, start=position, reason=reason))
        position += len(old)
    return tuple(hunks)


def lines_diff(before: str, after: str) -> Iterator[Piece]:
    """The lines that are the same and those that differ, not looked into."""
    return _align(before.splitlines(keepends=True), after.splitlines(keepends=True))


_LEVELS: Sequence[Callable[[str], list[str]]] = (
    partial(str.splitlines, keepends=True),
    _SENTENCE.findall,
    _TOKEN.findall,
)
"""Lines, then sentences of lines that differ, then their words: long texts stay affordable."""


def words_diff(
    before: str, after: str, levels: Sequence[Callable[[str], list[str]]] = _LEVELS[1:]
) -> Iterator[Piece]:
    """The sentences that are the same, and the words of those that differ."""
    split, *finer = levels
    for op, old, new in _align(split(before), split(after)):
        if op == "replace" and finer:
            yield from words_diff(old, new, finer)
        else:
            yield op, old, new


def _align(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    """The equal, inserted, deleted and replaced parts of two lists of pieces."""
    pairs = len(old) * len(new)
    if pairs <= _CAREFUL:
        codes: Iterable[_Opcode] = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    elif pairs <= _LARGEST:
        from rapidfuzz.distance import Levenshtein

        codes = cast("Iterable[_Opcode]", Levenshtein.opcodes(old, new))
    else:
        codes = [("replace", 0, len(old), 0, len(new))]
    for op, i, j, k, m in codes:
        yield op, "".join(old[i:j]), "".join(new[k:m])


_Opcode = tuple[Literal["equal", "insert", "delete", "replace"], int, int, int, int]


def _merge(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Changes with nothing but white space between them, as one change."""
    pending: list[Piece] = []
    for piece in pieces:
        pending.append(piece)
        if piece[0] == "equal" and (piece[1].strip() or "\n" in piece[1]):
            yield from _join_changes(pending)
            pending = []
    yield from _join_changes(pending)


def _join_changes(pieces: list[Piece]) -> Iterator[Piece]:
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


class Reasons:
    """Finds the issue that asked for a change at a place."""

    _LONG = 500
    """Characters from which an issue's place is looked at for every change."""

    def __init__(self, issues: Iterable[Issue]) -> None:
        spans = sorted(
            (issue.start, issue.end, issue.message)
            for issue in issues
            if issue.start is not None and issue.end is not None
        )
        self._long = [span for span in spans if span[1] - span[0] >= self._LONG]
        self._short = [span for span in spans if span[1] - span[0] < self._LONG]

    def of(self, start: int, end: int) -> str | None:
        """The message of the issue that covers most of a place, the most precise one of several."""
        first = bisect_right(self._short, (start - self._LONG,))
        last = bisect_right(self._short, (end + 1,))
        matches = [
            (max(start, at) - min(end, until), until - at, message)
            for at, until, message in (*self._short[first:last], *self._long)
            if at <= end and start <= until
        ]
        return min(matches)[2] if matches else None


_WORD_BEFORE = re.compile(r"\s*\S+\s*\Z")
_WORD_AFTER = re.compile(r"\s*\S+")
_LONGEST_WORD = 200
_SEARCHED = 500_000_000
"""Characters that are searched at most to find places that occur once."""


class Edit(Frozen):
    """Words that occur once in a text, and the words in their place."""

    find: str
    replace: str
    reason: str | None = None


def edits_of(hunks: Sequence[Hunk]) -> tuple[Edit, ...] | None:
    """The edits that lead from the first text of a diff to its second.

    Each takes as many words around its change as its place needs to occur once.

    Args:
        hunks: The diff, equal stretches included.

    Returns:
        The edits in order; None where there are too many places in too long a text.
    """
    text = "".join(hunk.before for hunk in hunks)
    places = _Places(text)
    spans: list[tuple[int, int, list[Hunk]]] = []
    for hunk in hunks:
        if hunk.op == "equal":
            continue
        start, end = hunk.start, hunk.start + len(hunk.before)
        if not spans or end > spans[-1][1]:
            unique = places.unique(start, end)
            if unique is None:
                return None
            start, end = unique
        together = [hunk]
        while spans and spans[-1][1] >= start:
            first, last, earlier = spans.pop()
            start, end, together = min(first, start), max(last, end), [*earlier, *together]
        spans.append((start, end, together))
    return tuple(_make_edit(text, *span) for span in spans)


class _Places:
    """The places of a text, of which some occur once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = _SEARCHED

    def unique(self, start: int, end: int) -> tuple[int, int] | None:
        """The fewest whole words around a place that occur once; None when that takes too long."""
        while self._left > 0:
            words = self._text[start:end]
            self._left -= len(self._text)
            unique = self._text.find(words, self._text.find(words) + 1) < 0
            if unique and (words or not self._text):
                return start, end
            start, end = self._widen(start, end)
        return None

    def _widen(self, start: int, end: int) -> tuple[int, int]:
        """One word more on both sides."""
        self._left -= _LONGEST_WORD * _LONGEST_WORD // 2
        before = _WORD_BEFORE.search(self._text, max(0, start - _LONGEST_WORD), start)
        after = _WORD_AFTER.match(self._text, end, end + _LONGEST_WORD)
        if before is None and after is None:
            return 0, len(self._text)
        first = before.start() if before else 0
        return first, after.end() if after else len(self._text)


def _make_edit(text: str, start: int, end: int, hunks: Sequence[Hunk]) -> Edit:
    parts: list[str] = []
    at = start
    for hunk in hunks:
        parts += [text[at : hunk.start], hunk.after]
        at = hunk.start + len(hunk.before)
    parts.append(text[at:end])
    reasons = dict.fromkeys(hunk.reason for hunk in hunks if hunk.reason)
    return Edit(find=text[start:end], replace="".join(parts), reason="; ".join(reasons) or None)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with every edit made; all are found in the text as it is given.

    Raises:
        ConfigurationError: The words of one do not occur exactly once, or two touch one place.
    """
    places: list[tuple[int, int, int, str]] = []
    for number, edit in enumerate(edits):
        at = text.find(edit.find) if edit.find else -1
        if at < 0 or text.find(edit.find, at + 1) >= 0:
            raise _explain_not_once(text, edit.find, number)
        places.append((at, at + len(edit.find), number, edit.replace))
    parts: list[str] = []
    end, before = 0, -1
    for start, until, number, replacement in sorted(places):
        if start < end:
            raise ConfigurationError(
                f"edits[{before}] and edits[{number}] change the same words",
                "make one edit of them",
            )
        parts += [text[end:start], replacement]
        end, before = until, number
    return "".join([*parts, text[end:]])


def _explain_not_once(text: str, find: str, number: int) -> ConfigurationError:
    if not find:
        return ConfigurationError(
            f"edits[{number}].find is empty", "give the words to replace, or the words beside"
        )
    count = sum(1 for _ in re.finditer(f"(?={re.escape(find)})", text))
    return ConfigurationError(
        f"edits[{number}].find {find[:60]!r} occurs {count} times in the version to revise",
        "give more of the words around it, so that it occurs once"
        if count
        else "copy the words from that version as they are; every edit is found in it, not in "
        "what another edit made",
    )
