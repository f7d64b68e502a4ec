"""Edits: find-and-replace pairs that lead from one text to another, each at one place alone."""

import re
from collections.abc import Sequence

from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError
from sifaka.record.diff import Hunk

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
    return tuple(_edit(text, *span) for span in spans)


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
            start, end = self._wider(start, end)
        return None

    def _wider(self, start: int, end: int) -> tuple[int, int]:
        """One word more on both sides."""
        self._left -= _LONGEST_WORD * _LONGEST_WORD // 2
        before = _WORD_BEFORE.search(self._text, max(0, start - _LONGEST_WORD), start)
        after = _WORD_AFTER.match(self._text, end, end + _LONGEST_WORD)
        if before is None and after is None:
            return 0, len(self._text)
        first = before.start() if before else 0
        return first, after.end() if after else len(self._text)


def _edit(text: str, start: int, end: int, hunks: Sequence[Hunk]) -> Edit:
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
            raise _not_once(text, edit.find, number)
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


def _not_once(text: str, find: str, number: int) -> ConfigurationError:
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
