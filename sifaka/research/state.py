"""The states of the two graphs: immutable, and replaced step by step."""

from typing import Literal

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.research.findings import Finding
from sifaka.research.limits import Stop

SectionStatus = Literal["done", "failed"]
Written = Literal["model", "plain", "outline"]


class Task(Frozen):
    """One search."""

    query: str
    adapter: str = ""
    """The adapter's name; empty means all that the research may use."""


class Round(Frozen):
    """One iteration of a loop: what it has added."""

    number: int = Field(ge=1)
    observations: str = ""
    complete: bool = False
    gaps: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    findings: tuple[Finding, ...] = ()
    seen: tuple[str, ...] = ()
    """The sources that were looked at for the first time, those that were turned down included."""
    stops: tuple[Stop, ...] = ()
    degraded: tuple[str, ...] = ()
    seconds: float = 0.0
    """Seconds that the loop has taken up to its end."""


class LoopState(Frozen):
    """What one loop knows."""

    rounds: tuple[Round, ...] = ()
    """Those that have come to their end."""
    now: Round = Round(number=1)
    """The one that is under way."""

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
        """Which limits were reached."""
        return tuple(each for one in (*self.rounds, self.now) for each in one.stops)

    @property
    def degraded(self) -> tuple[str, ...]:
        """What did not work, each line once."""
        lines = (each for one in (*self.rounds, self.now) for each in one.degraded)
        return tuple(dict.fromkeys(lines))

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


class Section(Frozen):
    """What became of one section."""

    number: int
    title: str
    status: SectionStatus
    text: str = ""
    """The draft, citing its findings by their numbers in the section."""
    written: Written = "model"
    """Who wrote the text: the model, nobody as there was no room for a call, or the caller will."""
    findings: tuple[Finding, ...] = ()
    """Those that the text cites."""
    iterations: int = 0
    stops: tuple[Stop, ...] = ()
    degraded: tuple[str, ...] = ()
    error: str | None = None
    """Why it failed, in one line."""
    code: str | None = None
    """The error's code."""
    attempt: int = 0
    """How often the run had failed before: a section that failed is tried again after that."""


class SectionPlan(Frozen):
    """A section that is to be researched."""

    title: str = Field(min_length=1)
    question: str = Field(min_length=1)


class Outline(Frozen):
    """What a report will consist of."""

    title: str = ""
    sections: tuple[SectionPlan, ...] = ()
    degraded: tuple[str, ...] = ()
    """What is to be told about it, such as that no model has made it."""
    stops: tuple[Stop, ...] = ()


class DeepState(Frozen):
    """What the graph of deep research knows."""

    outline: Outline | None = None
    sections: tuple[Section, ...] = ()
    """In the order of the outline."""
    stops: tuple[Stop, ...] = ()
    degraded: tuple[str, ...] = ()
