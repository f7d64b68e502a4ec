"""The labelled sentences."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SetName = Literal["tuning", "held_out", "another_hand", "phrases", "tricky"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sentence or a short text, and how it should read."""

    kind: str
    """The kind of the mistakes, or of the trap."""
    text: str
    corrected: str | None
    """The text without its mistakes; None when it has none."""

    @property
    def right(self) -> str:
        """The text as it should read."""
        return self.text if self.corrected is None else self.corrected


def load(name: SetName) -> tuple[Sample, ...]:
    """The samples of one file."""
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Sample(**json.loads(line)) for line in lines)
