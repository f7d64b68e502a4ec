"""Judges edits of a text by its corrected version."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_TOKEN = re.compile(r"\s|[\w'’]+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A place where the text and its corrected version differ."""

    start: int
    """Offset in the text."""
    end: int
    fix: str


def mistakes(text: str, right: str) -> tuple[Mistake, ...]:
    """The differences, word by word where as many words stand on both sides."""
    before, after = _tokens(text), _tokens(right)
    offsets = [0]
    for token in before:
        offsets.append(offsets[-1] + len(token))
    return tuple(
        Mistake(start=offsets[i], end=offsets[j], fix="".join(after[k:m]))
        for i, j, k, m in _differences(before, after)
    )


def is_right(text: str, start: int, end: int, fix: str, right: str) -> bool:
    """True when the replacement mends one mistake or several neighbours, and no more."""
    done = text[:start] + fix + text[end:]
    found = mistakes(text, right)
    return any(
        _applied(text, found[i:j]) == done
        for i in range(len(found))
        for j in range(i + 1, len(found) + 1)
    )


def mended(text: str, edited: str, right: str) -> int:
    """The number of mistakes that `edited` has fewer than `text`; 0 when it has more."""
    return max(len(mistakes(text, right)) - len(mistakes(edited, right)), 0)


def _applied(text: str, found: Sequence[Mistake]) -> str:
    for mistake in reversed(found):
        text = text[: mistake.start] + mistake.fix + text[mistake.end :]
    return text


def _differences(
    before: Sequence[str], after: Sequence[str]
) -> Sequence[tuple[int, int, int, int]]:
    result: list[tuple[int, int, int, int]] = []
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if j - i == m - k:
            result += [
                (i + n, i + n + 1, k + n, k + n + 1)
                for n in range(j - i)
                if before[i + n] != after[k + n]
            ]
        else:
            result.append((i, j, k, m))
    return result


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)
