"""The texts, their tasks, and the checks of a result. No model judges here."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rapidfuzz.fuzz import ratio

from sifaka import Thought, ValidationResult, validate
from sifaka.critics import LintCritic

Kind = Literal["length", "terms", "format", "facts", "grammar"]
KINDS: tuple[Kind, ...] = ("length", "terms", "format", "facts", "grammar")

_FACTS = (
    re.compile(r"https?://[^\s)>\]\"']+[^\s)>\]\"'.,;:!?]"),
    re.compile(r"`([^`\n]+)`"),
    re.compile(r"\d+(?:[.,:]\d+)*"),
)
"""Web addresses, code and numbers; where they stand does not matter, nor how often."""
_MARKS = re.compile(
    r"</?[a-z ]+ id=|\bid=[0-9a-f]{8,}|\A\s*(?:sure|certainly|of course|here(?: i|'|’)s|here are)\b"
    r"|^\s*(?:\W{0,3})(?:task|feedback|text|original(?: text)?|(?:rewritten|revised|improved"
    r"|corrected) (?:text|version))\W{0,3}:|\A\s*```",
    re.IGNORECASE | re.MULTILINE,
)
"""Marks and labels of prompts, a chat's opening words, a fence around everything."""
_SHORTEST, _LONGEST = 0.3, 2.0
"""Words of a result for each word of the input; beyond these it is another text."""
_ALIKE = 70
"""Percent of the characters that stay, where nothing else is to be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The checks of one result."""

    met: bool
    """The task's own checks pass."""
    lost: int
    """Facts of the input that are not in the result."""
    marks: bool
    """It holds something of the prompt or of a chat."""
    sized: bool
    """It is neither a fragment nor much longer than the input."""
    failed: int
    """Checks of the task that fail, or mistakes that the linter finds."""

    @property
    def good(self) -> bool:
        """True when the task is done and nothing was damaged."""
        return self.met and not self.lost and not self.marks and self.sized

    def worse_than(self, source: "Score") -> bool:
        """True when the result is worse than the input by one of the checks."""
        damaged = self.lost > 0 or self.marks or not self.sized
        return damaged or self.failed > source.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A text with a task."""

    id: str
    kind: Kind
    text: str
    task: str
    validators: Sequence[Mapping[str, Any]]

    async def verdicts(self, text: str) -> Sequence[ValidationResult]:
        """The results of the task's validators for a text; none for grammar."""
        if not self.validators:
            return ()
        return (await validate(text, self.validators, original=self.text)).results

    async def score(self, text: str) -> Score:
        """The checks of a result of this task."""
        if self.kind == "grammar":
            failed, least = await _mistakes(text), await _mistakes(self.text)
            met = failed < least
        else:
            failed = sum(not verdict.passed for verdict in await self.verdicts(text))
            met = failed == 0
        if self.kind in {"terms", "grammar"}:
            met = met and ratio(self.text, text) >= _ALIKE
        words = len(text.split()) / len(self.text.split())
        return Score(
            met=met,
            lost=len(set(facts(self.text)) - set(facts(text))),
            marks=bool(_MARKS.search(text)),
            sized=_SHORTEST <= words <= _LONGEST,
            failed=failed,
        )


def facts(text: str) -> Iterator[str]:
    """The web addresses, pieces of code and numbers of a text."""
    for pattern in _FACTS:
        yield from pattern.findall(text)


async def _mistakes(text: str) -> int:
    return len((await LintCritic().critique(Thought(text=text))).issues)


def load() -> Sequence[Case]:
    """All of them, the kinds in turn, so that a part of them has each kind."""
    told = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
    cases = [Case(**each) for each in told]
    return sorted(cases, key=lambda case: (case.id.rpartition("-")[2], KINDS.index(case.kind)))
