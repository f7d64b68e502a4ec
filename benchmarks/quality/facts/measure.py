"""The labelled rewrites, and how the guard decides on them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sifaka.validators.facts import allowance_of, compare

SetName = Literal["tuning", "held_out"]
SETS: Sequence[SetName] = ("tuning", "held_out")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "no task": ("",),
    "shorten, summarise": ("shorten", "summar", "headline", "title", "tweet", "long summary"),
    "translate": ("translate", "long translate", "ar"),
    "anonymise, redact": ("anonym", "redact", "pseudonym"),
    "convert, replace": ("convert", "replace"),
    "add, remove, answer": ("add", "expand", "continue", "remove", "answer", "reply", "headings"),
}
"""The kinds of tasks by how the kind of a case begins; the others are about style."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A text with a good and a bad rewrite of it."""

    kind: str
    task: str
    text: str
    good: str
    bad: str

    @property
    def group(self) -> str:
        """The kind of its task."""
        if not self.task:
            return "no task"
        starts = ((name, s) for name, listed in GROUPS.items() for s in listed if s)
        return next((name for name, s in starts if self.kind.startswith(s)), "style, form, grammar")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The decision of the rules on both rewrites of a case."""

    case: Case
    refused: tuple[str, ...]
    """The reasons to refuse the good one; empty when it passes."""
    caught: tuple[str, ...]
    """The reasons to refuse the bad one; empty when it passes."""


def load(name: SetName) -> tuple[Case, ...]:
    """The cases of one half."""
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(Case(**json.loads(line)) for line in lines)


def outcome(case: Case) -> Outcome:
    """The decision of the rules on a case, without any model."""
    allowed = allowance_of(case.task)
    good, bad = (
        tuple(d.message for d in compare(case.text, rewrite, case.task, allowed))
        for rewrite in (case.good, case.bad)
    )
    return Outcome(case=case, refused=good, caught=bad)
