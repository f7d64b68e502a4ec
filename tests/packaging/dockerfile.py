"""Reading a Dockerfile: its stages and their instructions."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Instruction:
    name: str
    value: str

    @property
    def command(self) -> str:
        """Of RUN, without its mounts."""
        return re.sub(r"^(?:--mount=\S+\s+)+", "", self.value)

    @property
    def exec_form(self) -> list[str]:
        """The words of `["a", "b"]`.

        Raises:
            ValueError: It is in shell form.
        """
        return json.loads(self.value)


@dataclass
class Stage:
    image: str
    name: str
    instructions: list[Instruction] = field(default_factory=list[Instruction])

    def all(self, name: str) -> list[str]:
        return [i.value for i in self.instructions if i.name == name]

    def only(self, name: str) -> Instruction:
        (found,) = [i for i in self.instructions if i.name == name]
        return found

    @property
    def environment(self) -> Mapping[str, str]:
        pairs = (shlex.split(value) for value in self.all("ENV"))
        return dict(pair.split("=", 1) for words in pairs for pair in words)

    @property
    def health_command(self) -> list[str]:
        options, _, command = self.only("HEALTHCHECK").value.partition("CMD")
        assert all(option.startswith("--") for option in options.split())
        return json.loads(command)


def read_dockerfile(path: Path) -> list[Stage]:
    stages: list[Stage] = []
    chosen: dict[str, str] = {}
    """What is said before the first stage."""
    for instruction in _instructions(path.read_text(encoding="utf-8")):
        if instruction.name == "FROM":
            image, _, name = instruction.value.partition(" AS ")
            stages.append(Stage(re.sub(r"\$\{(\w+)\}", lambda m: chosen[m[1]], image), name))
        elif instruction.name == "ARG" and not stages:
            name, _, default = instruction.value.partition("=")
            chosen[name] = default
        else:
            assert stages, "a Dockerfile begins with FROM"
            stages[-1].instructions.append(instruction)
    return stages


def _instructions(text: str) -> Iterator[Instruction]:
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n\s*", "", lines).splitlines():
        if line.strip():
            name, _, value = line.strip().partition(" ")
            yield Instruction(name, value.strip())
