"""The values that the two graphs work on, findings first: immutable, each step makes new ones."""

from collections.abc import Iterable
from typing import Literal, cast, get_args

from pydantic import Field, field_serializer

from sifaka._internal.immutable import Frozen
from sifaka.errors import BudgetExceeded
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import Classified, Evidence, ranked
from sifaka.evidence.passages import excerpt, without_heading
from sifaka.evidence.search import identities
from sifaka.research.agents import AgentTask, PlannedSection

LONGEST = 1_500
"""Characters that are kept of a document: its quotes and the passages nearest to the query."""
_LONGEST_QUOTE = 400
_MOST_QUOTES = 4
_SHOWN = 600
"""Characters of a passage that stands in for quotes."""


class Finding(Classified):
    """A document that says something about the question, with the words that do."""

    number: int
    """Its number in its section, from 1; drafts cite it by that."""
    document: SourceDocument
    """Its text is cut to the relevant passages."""
    source: str
    """The same for the same document, for any part of its text that was found."""
    query: str
    """The query that found it."""
    quotes: tuple[str, ...] = ()
    """Words that stand in the document; none while it is not verified."""

    @field_serializer("score")
    def _round_score(self, score: float) -> float:
        return round(score, 6)

    @classmethod
    def of(cls, number: int, evidence: Evidence, query: str) -> "Finding":
        """The finding that a document makes which was not rejected."""
        document = evidence.document
        quotes = _collect_quotes(evidence)
        passages = excerpt(document.text, " ".join((query, *quotes)), LONGEST)
        missing = [quote for quote in quotes if quote not in passages]
        return cls(
            number=number,
            document=document.model_copy(update={"text": "\n\n".join((passages, *missing))}),
            source=source_of(document),
            query=query,
            quotes=quotes,
            classification=evidence.classification,
            score=evidence.score,
        )

    @property
    def words(self) -> tuple[str, ...]:
        """Its quotes, or the passage nearest to the query."""
        return self.quotes or (without_heading(excerpt(self.document.text, self.query, _SHOWN)),)


def source_of(document: SourceDocument) -> str:
    """The identity of a document, the same for all queries that find it."""
    return min(identities(document), default=f"key:{document.key}")


def listed(findings: Iterable[Finding], most: int = 40) -> str:
    """The best findings as a prompt shows them, each under its number."""
    return "\n\n".join(map(_entry, sorted(ranked(findings)[:most], key=lambda each: each.number)))


def _entry(finding: Finding) -> str:
    document = finding.document
    dated = f", {document.day}" if document.day else ""
    unverified = ", not verified" if finding.classification == "unverified" else ""
    head = f"[{finding.number}] {one_line(document.title or document.url)[:200]}{dated}{unverified}"
    return "\n".join((head, *(f'- "{one_line(words)}"' for words in finding.words)))


def one_line(text: str) -> str:
    """The words of a text without its line breaks."""
    return " ".join(text.split())


def _collect_quotes(evidence: Evidence) -> tuple[str, ...]:
    """The quotes that speak for the document, the most telling first, each once."""
    quotes = [
        quote
        for judgement in ("support", "somewhat_support")
        for each in evidence.assessments
        if each.judgement == judgement
        for quote in each.quotes
        if len(quote) <= _LONGEST_QUOTE
    ]
    return tuple(dict.fromkeys(map(without_heading, quotes)))[:_MOST_QUOTES]


Stop = Literal["tokens", "time", "iterations", "calls", "cost"]
"""A limit that was reached."""
ORDER: tuple[Stop, ...] = get_args(Stop)
"""The order in which they are reported."""


def stop_of(error: BudgetExceeded) -> Stop:
    """The limit that left no room for a call."""
    return "time" if error.limit == "seconds" else cast("Stop", error.limit)


def in_order(stops: Iterable[Stop]) -> tuple[Stop, ...]:
    """Each limit once, in the order in which they are reported."""
    return tuple(sorted(set(stops), key=ORDER.index))


Mode = Literal["iterative", "deep"]
SectionStatus = Literal["done", "failed"]
Written = Literal["model", "plain", "outline"]

_TOLD_IN_FULL = 6
"""Iterations that an agent is shown in full; of earlier ones the searches."""


class Round(Frozen):
    """One iteration of a loop, with all that it has added."""

    number: int = Field(ge=1)
    observations: str = ""
    complete: bool = False
    gaps: tuple[str, ...] = ()
    tasks: tuple[AgentTask, ...] = ()
    findings: tuple[Finding, ...] = ()
    seen: tuple[str, ...] = ()
    """The sources that were looked at for the first time, the rejected ones included."""
    stops: tuple[Stop, ...] = ()
    degraded: tuple[str, ...] = ()
    seconds: float = 0.0
    """Seconds that the loop has taken up to its end."""

    def told(self, *, in_full: bool) -> str:
        """The iteration as agents are shown it."""
        searched = "; ".join(task.query for task in self.tasks)
        numbers = ", ".join(str(finding.number) for finding in self.findings) or "none"
        observed = f"Observations: {self.observations}\n" if in_full and self.observations else ""
        return (
            f"Iteration {self.number}\n{observed}Searched for: {searched}\nNew findings: {numbers}"
        )


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
        rounds = (*self.rounds, self.now)
        return tuple(dict.fromkeys(line for one in rounds for line in one.degraded))

    @property
    def past(self) -> str:
        """The earlier iterations as agents are shown them, oldest first."""
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


class Outline(Frozen):
    """The title and sections of a report to be written."""

    title: str = ""
    sections: tuple[PlannedSection, ...] = ()
    degraded: tuple[str, ...] = ()
    """Remarks on it, such as that no model has made it."""
    stops: tuple[Stop, ...] = ()


class ParsedQuery(Frozen):
    """A question as it was read, and the mode to research it in."""

    question: str
    mode: Mode
    degraded: tuple[str, ...] = ()
    """The reason it was not read by a model, or not as the model said."""


class ResearchPlan(Frozen):
    """The first step on record: the mode and the outline."""

    mode: Mode
    outline: Outline
    parsed: ParsedQuery
    """The question as it was read."""
