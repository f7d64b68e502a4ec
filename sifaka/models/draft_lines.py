"""The lines of a draft: which are of the text, and which of the prompt or a chat."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from sifaka.models.draft_source import Source
from sifaka.models.remarks import is_letter

_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
_PRESENTS = re.compile(
    r"(?:\A|[.!?]\s+)\W{0,8}(?:\w+\W+){0,3}?(?:here(?:['’]s| is| are)\b|"
    r"the (?:\w+ )?(?:text|version)(?: is)?:)[^.!?]*:\W*\Z",
    re.IGNORECASE,
)
_FENCE = "```", "~~~"
LONGEST_REMARK = 2_000
"""Characters of a line from which it is text."""

Kind = Literal["text", "echo", "remark"]
Line = tuple[Kind, str]
"""A line, with its line break."""


def lines_of(text: str, source: Source) -> Iterator[Line]:
    """The lines with their kinds; blank ones are of the kind of the line before."""
    whole = text.strip()
    letter = is_letter(whole)
    kind: Kind = "text"
    listed = fenced = False
    explained = any(True for _ in _text_before_list(whole))
    for n, line in enumerate(whole.splitlines(keepends=True)):
        said = line.strip()
        if said.startswith(_FENCE):
            fenced = not fenced
        if not said:
            yield kind, line
            continue
        if fenced or said.startswith("|"):
            kind = "text"
        elif len(said) > LONGEST_REMARK:
            kind, listed = "text", False
        elif source.is_echo(said):
            kind, listed = "echo", said.endswith(":")
        elif source.remarks.share(said, letter=letter) >= 0.5:
            kind = "remark"
            listed = said.rstrip("*_").endswith(":") and not _PRESENTS.search(said)
        elif n and listed and kind != "text" and _ITEM.match(line) and explained:
            pass  # an item of what the line before announces
        else:
            kind, listed = "text", False
        yield kind, line


def splits_list(lines: Sequence[Line], first: int, last: int) -> bool:
    """True when what would be taken off is the first or the last items of a list."""
    announced = [line.rstrip("*_ \r\n") for _, line in lines[:first] if line.strip()][-1:]
    explains = announced and announced[0].endswith(":") and not _PRESENTS.search(announced[0])
    if explains and all(_ITEM.match(line) or not line.strip() for _, line in lines[first:last]):
        return True
    told = [_ITEM.match(line) is not None for _, line in lines]
    blank = [not line.strip() for _, line in lines]
    before = [told[n] for n in range(first) if not blank[n]]
    after = [told[n] for n in range(last, len(lines)) if not blank[n]]
    return bool(before and before[-1] and told[first]) or bool(
        after and after[0] and told[last - 1]
    )


def _text_before_list(whole: str) -> Iterable[str]:
    """The lines that stand before an announced list and are no announcement."""
    for line, following in pairwise(whole.splitlines()):
        if line.strip() and not _ITEM.match(line) and not line.rstrip("*_ ").endswith(":"):
            yield following
