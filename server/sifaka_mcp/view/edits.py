"""The changes of a text as a person reads them: whole words, one reason for each edit."""

import re
from collections.abc import Iterable, Sequence

from sifaka.record.diff import Hunk

_GAP = 3
"""Words between two changes that are still one edit when both have the same reason."""
_BEGINNING = re.compile(r"[\w'’]*\w")
_MORE_DIGITS = re.compile(r"(?:[.,:]\d+)+\w*")
_DIGITS_BEFORE = re.compile(r"\d[\d.,:]*[.,:]\Z")
"""The rest of a number such as `40,000`, behind a change and before one."""
_LONGEST_NUMBER = 40


def edits(hunks: Iterable[Hunk]) -> list[Hunk]:
    """The hunks with whole words in them; what one reason has changed close by is one hunk."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if hunk.op == "equal" and groups and groups[-1][0].op == "equal":
            groups[-1].append(hunk)
        elif hunk.op != "equal" and len(groups) > 1 and _is_one_edit(groups[-2], groups[-1], hunk):
            between = groups.pop()
            groups[-1] += [*between, hunk]
        else:
            groups.append([hunk])
    whole = [
        _replace_words(group[0], "".join(h.before for h in group), "".join(h.after for h in group))
        for group in groups
    ]
    for at in range(len(whole)):
        if whole[at].op != "equal":
            _take_whole_words(whole, at)
    return [hunk for hunk in whole if hunk.op != "equal" or hunk.before]


def _is_one_edit(first: Sequence[Hunk], between: Sequence[Hunk], second: Hunk) -> bool:
    same = "".join(hunk.before for hunk in between)
    return (
        first[0].op != "equal"
        and between[0].op == "equal"
        and first[0].reason == second.reason
        and "\n" not in same
        and len(same.split()) <= _GAP
    )


def _replace_words(hunk: Hunk, before: str, after: str, *, shift: int = 0) -> Hunk:
    """The hunk with other words, which begin `shift` characters later."""
    op = "equal" if hunk.op == "equal" else _choose_op(before, after)
    return hunk.model_copy(
        update={"op": op, "before": before, "after": after, "start": hunk.start + shift}
    )


def _choose_op(before: str, after: str) -> str:
    return "insert" if not before else "delete" if not after else "replace"


def _take_whole_words(hunks: list[Hunk], at: int) -> None:
    """Take the rest of a word that a change begins or ends in from the words beside it."""
    left = hunks[at - 1].before if at and hunks[at - 1].op == "equal" else ""
    right = hunks[at + 1].before if at + 1 < len(hunks) and hunks[at + 1].op == "equal" else ""
    hunk = hunks[at]
    sides = (hunk.before, hunk.after)
    head = _last_word(left)
    if any(side[:1].isdigit() for side in sides):
        number = _DIGITS_BEFORE.search(left[-_LONGEST_NUMBER:])
        head = number[0] if number else head
    if head and any(_BEGINNING.match(side or right) for side in sides):
        hunks[at - 1] = _replace_words(hunks[at - 1], *(left[: -len(head)],) * 2)
        hunk = _replace_words(hunk, *(head + side for side in sides), shift=-len(head))
    tail = _BEGINNING.match(right)
    if any(side[-1:].isdigit() for side in sides):
        tail = _MORE_DIGITS.match(right) or tail
    if tail and any(_last_word(side or left) for side in (hunk.before, hunk.after)):
        hunks[at + 1] = _replace_words(hunks[at + 1], *(right[tail.end() :],) * 2, shift=tail.end())
        hunk = _replace_words(hunk, hunk.before + tail[0], hunk.after + tail[0])
    hunks[at] = hunk


def _last_word(text: str) -> str:
    """The word at the end of a text, an apostrophe in it or behind it included."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] in "_'’"):
        start -= 1
    return text[start:].lstrip("'’")
