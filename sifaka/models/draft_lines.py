"""The lines of a draft: which are of the text, and which of the prompt or a chat."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from sifaka.models.prompt import contents
from sifaka.models.remarks import Remarks, is_letter

_LABEL = re.compile(r"\W*([a-z][a-z ]{0,60}?)\W*:\W*", re.IGNORECASE)
_TASK = "Task: "
_SHORTEST_ECHO = 12
"""Characters of a line from which it is told from a line of the prompt by chance."""
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


@dataclass(frozen=True)
class Source:
    """What a draft was made from; it has what may stand in a text without being a leak."""

    text: str = ""
    """The version that it stands for; empty for a first one."""
    task: str = ""
    prompt: str = ""
    """The words that the model was sent; empty where they are not known."""
    instructions: str = ""
    material: str = ""
    """Documents, from which a draft may quote anything."""

    @cached_property
    def known(self) -> str:
        """All words that are not ours."""
        return "\n".join((self.text, self.task, self.material))

    @cached_property
    def _parts(self) -> tuple[dict[str, list[str]], str]:
        return contents(self.prompt)

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels of the prompt's frames."""
        return frozenset(self._parts[0]) | {"text", "feedback"} if self.prompt else frozenset()

    @cached_property
    def own(self) -> frozenset[str]:
        """The lines that a draft can only have from the prompt."""
        held, around = self._parts
        feedback = (line.strip() for part in held.get("feedback", ()) for line in part.split("\n"))
        spoken = re.split(r"\n|(?<=[.!?]) ", f"{around}\n{self.instructions}")
        lines = (*feedback, *(line.strip() for line in spoken))
        given = {line.strip() for line in self.known.splitlines()}
        return frozenset(x for x in lines if len(x) >= _SHORTEST_ECHO and x not in given)

    @cached_property
    def remarks(self) -> Remarks:
        """The remarks that are not of the given words."""
        return Remarks(self.known, revised=self.text)

    def is_echo(self, line: str) -> bool:
        """True when a draft can have a line only from the prompt."""
        if not self.prompt:
            return False
        if line in self.own or line.lstrip("#>* ").rstrip("* ") in self.own:
            return True
        told = line.removeprefix(_TASK)
        if told != line and same(told, self.task) and line not in self.known:
            return True
        label = _LABEL.fullmatch(line)
        labels = self.labels | {"task"}
        named = label is not None and label[1].casefold() in labels
        return named and line.casefold() not in self.known.casefold()


def same(one: str, other: str) -> bool:
    """True when two texts differ in white space alone; False for an empty one."""
    return bool(one.strip()) and one.split() == other.split()


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
