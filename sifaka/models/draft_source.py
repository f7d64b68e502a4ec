"""The source of a draft: what was given to the model that wrote it."""

import re
from dataclasses import dataclass
from functools import cached_property

from sifaka.models.framing import contents
from sifaka.models.remarks import Remarks

_LABEL = re.compile(r"\W*([a-z][a-z ]{0,60}?)\W*:\W*", re.IGNORECASE)
_TASK = "Task: "
_SHORTEST_ECHO = 12
"""Characters of a line from which it is told from a line of the prompt by chance."""


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
