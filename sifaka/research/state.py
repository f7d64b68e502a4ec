"""The values that the two graphs work on: immutable, each step makes new ones."""

from typing import Literal

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.research.findings import Finding
from sifaka.research.limits import Stop

Mode = Literal["iterative", "deep"]
SectionStatus = Literal["done", "failed"]
Written = Literal["model", "plain", "outline"]

_TOLD_IN_FULL = 6
"""Iterations that an agent is told of in full; of earlier ones the searches."""


class SearchTask(Frozen):
    """One search."""

    query: str
    adapter: str = ""
    """The adapter's name; empty means all that the research may use."""


class Round(Frozen):
    """One iteration of a loop, with all that it has added."""

    number: int = Field(ge=1)
    observations: str = ""
    complete: bool = False
    gaps: tuple[str, ...] = ()
    tasks: tuple[SearchTask, ...] = ()
    findings: tuple[Finding, ...] = ()
    seen: tuple[str, ...] = ()
    """The sources that were looked at for the first time, those that were turned down included."""
    stops: tuple[Stop, ...] = ()
    degraded: tuple[str, ...] = ()
    seconds: float = 0.0
    """Seconds that the loop has taken up to its end."""

    def told(self, *, in_full: bool) -> str:
        """The iteration as agents are told of it."""
        searched = "; ".join(task.query for task in self.tasks)
        numbers = ", ".join(str(finding.number) for finding in self.findings) or "none"
        lines = [
            f"Iteration {self.number}",
            f"Searched for: {searched}",
            f"New findings: {numbers}",
        ]
        if in_full and self.observations:
            lines.insert(1, f"Observations: {self.observations}")
        return "\n".join(lines)


class LoopState(Frozen):
    """The state of one loop."""

    rounds: tuple[Round, ...] = ()
    """The iterations that have ended."""
    now: Round = Round(number=1)
    """The iteration that is under way."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, by their numbers."""
        return tuple(each for one in (*self.rounds, self.now) for each in one.findings)

    @property
    def seen(self) -> frozenset[str]:
        """Every source that was looked at."""
        return frozenset(each for one in (*self.rounds, self.now) for each in one.seen)

    @property
    def stops(self) -> tuple[Stop, ...]:
        """The limits that were reached."""
        return tuple(each for one in (*self.rounds, self.now) for each in one.stops)

    @property
    def degraded(self) -> tuple[str, ...]:
        """Lines about failures, each once."""
        lines = (each for one in (*self.rounds, self.now) for each in one.degraded)
        return tuple(dict.fromkeys(lines))

    @property
    def past(self) -> str:
        """The earlier iterations as agents are told of them, oldest first."""
        older = len(self.rounds) - _TOLD_IN_FULL
        return "\n\n".join(
            one.told(in_full=number >= older) for number, one in enumerate(self.rounds)
        )

    def adding(self, **changes: object) -> "LoopState":
        """With these values in the round that is under way."""
        return self.model_copy(update={"now": self.now.model_copy(update=changes)})

    def stopping(self, stop: Stop) -> "LoopState":
        """With one more limit that was reached."""
        return self if stop in self.stops else self.adding(stops=(*self.now.stops, stop))

    def next_round(self) -> "LoopState":
        """With the round that is under way come to its end."""
        rounds = (*self.rounds, self.now)
        return LoopState(rounds=rounds, now=Round(number=len(rounds) + 1))


class ReportSection(Frozen):
    """The result of one section."""

    number: int
    title: str
    status: SectionStatus
    text: str = ""
    """The draft, citing its findings by their numbers in the section."""
    written: Written = "model"
    """`plain` without room for the writer's call, `outline` where the caller is to write."""
    findings: tuple[Finding, ...] = ()
    """Those that the text cites."""
    iterations: int = 0
    stops: tuple[Stop, ...] = ()
    degraded: tuple[str, ...] = ()
    error: str | None = None
    """The cause of its failure, in one line."""
    code: str | None = None
    """The error's code."""
    attempt: int = 0
    """The failures of the run before it: a failed section is tried again after another one."""


class SectionPlan(Frozen):
    """A section that is to be researched."""

    title: str = Field(min_length=1)
    question: str = Field(min_length=1)


class Outline(Frozen):
    """The title and sections of a report to be written."""

    title: str = ""
    sections: tuple[SectionPlan, ...] = ()
    degraded: tuple[str, ...] = ()
    """Remarks on it, such as that no model has made it."""
    stops: tuple[Stop, ...] = ()


class ResearchPlan(Frozen):
    """The first step on record: the mode and the outline."""

    mode: Mode
    outline: Outline
