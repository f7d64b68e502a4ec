"""A run: the append-only record of one request, and the events of the work on it.

A run is stored as a list of entries and nothing else. What a run *is* at any moment follows from
them by `Run.apply`, so a crash between two entries loses nothing and a resume knows where to go on.
"""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from functools import reduce
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenMap
from sifaka.record.entries import (
    FINAL,
    Anchored,
    Called,
    Critiqued,
    Decided,
    Decision,
    Declined,
    Drafted,
    Entry,
    Facts,
    Recovered,
    Researched,
    Retrieved,
    RunStart,
    RunStatus,
    Started,
    Stopped,
    StopReason,
    Validated,
)
from sifaka.record.outcome import NOBODY, open_task, shortcoming, source_of, verdict_of
from sifaka.record.research_question import ResearchStep
from sifaka.record.results import Issue, covered_in
from sifaka.record.thought import CALLER, EDITOR, PERSON, Thought
from sifaka.record.usage import Usage


class RunSummary(Frozen):
    """One line about a run, for lists."""

    run_id: str
    status: RunStatus
    passed: bool
    stop_reason: StopReason | None
    iterations: int
    excerpt: str
    created_at: datetime
    updated_at: datetime


Reached = Literal[
    "started", "drafted", "retrieved", "validated", "critiqued", "decided", "anchored"
]


_KEPT = {"called": "calls", "researched": "research", "recovered": "recoveries"}
"""The field that keeps entries of a kind as they are."""


class Run(RunStart):
    """The state of a run after some of its entries."""

    reached: Reached = "started"
    """The last phase that is durable; what comes next follows from it."""
    ending: Anchored | None = None
    """The comparison with the original, once the run has come to its end by it."""
    calls: tuple[Called, ...] = ()
    """Every answer of a model, for a resume or a replay."""
    research: tuple[Researched, ...] = ()
    """The steps of the research that its first version is written from."""
    recoveries: tuple[Recovered, ...] = ()
    """The recoveries after its failures."""
    failures: int = 0
    """The number of times it stopped with an error."""
    status: RunStatus = "running"
    stop_reason: StopReason | None = None
    error: str | None = None
    error_code: str | None = None
    """The code of the error that ended it."""
    retry_after: float | None = None
    """Seconds that the provider which ended it asked to wait."""
    handed_over: bool = False
    """True when the caller writes because every configured model has failed."""
    champion_id: str | None = None
    thoughts: tuple[Thought, ...] = ()
    decisions: FrozenMap[Decision] = Field(default_factory=dict[str, Decision])
    declined: FrozenMap[str] = Field(default_factory=dict[str, str])
    """By version, the caller's reason for declining the issues that are left in it."""
    declined_issues: tuple[Declined, ...] = ()
    """The issues that a person has declined one by one, each with the reason."""
    usage: Usage = Field(default_factory=Usage)
    version: int = 0
    """The number of its entries."""
    created_at: datetime
    updated_at: datetime

    @classmethod
    def replay(cls, entries: Iterable[Entry]) -> "Run":
        """The run that these entries, in their order, amount to.

        Raises:
            ValueError: There is no entry, or the first is not `Started`.
        """
        iterator = iter(entries)
        first = next(iterator, None)
        if not isinstance(first, Started):
            raise ValueError("a run begins with a `started` entry")
        return reduce(Run.apply, iterator, Run.start(first))

    @classmethod
    def start(cls, entry: Started) -> "Run":
        """The run right after its first entry."""
        fields = {name: getattr(entry, name) for name in RunStart.model_fields}
        fields["frame_key"] = entry.frame_key or entry.run_id
        return cls(**fields, version=1, created_at=entry.at, updated_at=entry.at)

    def apply(self, entry: Entry) -> "Run":
        """The run after one more entry."""
        changes: dict[str, object] = {}
        revised: Thought | None = None
        match entry:
            case Started():
                raise ValueError("a run starts once")
            case Drafted(thought=thought) if thought.id == self.run_id:
                changes = {"thoughts": (thought,)}  # saved by itself, whole, perhaps once more
            case Drafted(thought=thought):
                if thought.parent_id is not None:
                    # Stored without its history: a run stays linear in its iterations.
                    parent = self.thought(thought.parent_id)
                    history = (*parent.history, parent.reference())
                    thought = thought.model_copy(update={"history": history})
                changes = {"thoughts": (*self.thoughts, thought)}
            case Retrieved(thought_id=id_, documents=documents, degraded=lines):
                thought = self.thought(id_).add_post_generation_context(documents)
                revised = thought.add_degraded(lines)
            case Validated(thought_id=id_, results=results, findings=findings):
                revised = self.thought(id_)
                results = {**revised.validation_results, **results}
                revised = revised.model_copy(
                    update={"validation_results": results, "findings": findings}
                )
            case Critiqued(thought_id=id_, feedback=feedback):
                revised = self.thought(id_).add_critic_feedback(*feedback)
                revised = self._add_answers(revised) if revised.findings.differences else revised
            case Decided(thought_id=id_, decision=decision):
                changes = {
                    "decisions": MappingProxyType({**self.decisions, id_: decision}),
                    "champion_id": id_ if decision.accepted else self.champion_id,
                }
            case Declined(issue=Issue()):
                changes = {"declined_issues": (*self.declined_issues, entry)}
            case Declined(thought_id=id_, reason=reason):
                changes = {"declined": MappingProxyType({**self.declined, id_: reason})}
            case Called() | Researched() | Recovered():
                kept = _KEPT[entry.kind]
                changes = {kept: (*getattr(self, kept), entry)}
            case Anchored(decision=decision):
                other = entry.champion_id or self.thoughts[0].id
                champion = self.champion_id if decision.accepted else other
                changes = {"ending": entry, "champion_id": champion}
            case Stopped(status=status):
                handed_over = status == "needs_revision" and entry.error is not None
                changes = {
                    "failures": self.failures + (status == "failed"),
                    "handed_over": self.handed_over or handed_over,
                }
        if revised is not None:
            replaced = [revised if each.id == revised.id else each for each in self.thoughts]
            changes["thoughts"] = tuple(replaced)
        if not isinstance(entry, Called | Declined | Researched | Recovered | Stopped):
            changes["reached"] = entry.kind
        stopped = entry if isinstance(entry, Stopped) else None
        changes |= {
            "status": stopped.status if stopped else "running",
            "stop_reason": stopped.stop_reason if stopped else None,
            "error": stopped.error if stopped else None,
            "error_code": stopped.code if stopped else None,
            "retry_after": stopped.retry_after if stopped else None,
            "version": self.version + 1,
            "updated_at": entry.at,
            "usage": self.usage + entry.usage,
        }
        # Not validated again: every value comes from a validated entry or run.
        return self.model_copy(update=changes)

    def reopened(self) -> "Run":
        """The run as it was before it stopped, to go on with it."""
        return self.model_copy(
            update={"status": "running", "stop_reason": None, "error": None, "error_code": None}
        )

    def thought(self, thought_id: str) -> Thought:
        """The version of this id.

        Raises:
            KeyError: The run has no such version.
        """
        for thought in reversed(self.thoughts):  # the latest are asked for most
            if thought.id == thought_id:
                return thought
        raise KeyError(thought_id)

    @property
    def latest(self) -> Thought | None:
        """The version written last, accepted or not."""
        return self.thoughts[-1] if self.thoughts else None

    @property
    def undecided(self) -> tuple[Thought, ...]:
        """The versions that were written last and not compared yet, in their order."""
        first = len(self.thoughts)
        while first and self.thoughts[first - 1].id not in self.decisions:
            first -= 1
        return self.thoughts[first:]

    @property
    def drafted(self) -> tuple[Thought, ...]:
        """The versions of `undecided`, without the input where the editor has edited it."""
        latest = self.undecided
        edited = len(latest) == 2 and latest[1].author == EDITOR
        return latest[1:] if edited else latest

    @property
    def champion(self) -> Thought | None:
        """The best version so far."""
        return self.thought(self.champion_id) if self.champion_id else None

    @property
    def original(self) -> Thought | None:
        """The version everything else is compared with in the end: the input."""
        return self.thoughts[0] if self.thoughts else None

    @property
    def passed(self) -> bool:
        """True when every required rule is met, no difference is open, and the champion was judged.

        A critic, a person or the caller has judged it, and no critic asks for a revision that was
        not declined. A task was carried out. A report that lacks a part that was to be researched
        does not pass, nor a text none of whose claims could be verified.
        """
        champion = self.champion
        if champion is None or not champion.text or not champion.passed or champion.findings.open:
            return False
        if self.judged_by == NOBODY or shortcoming(self.original, champion):
            return False
        agreed = verdict_of(champion) != "revise" and not open_task(self)
        return agreed or self.is_declined(champion)

    @property
    def judged_by(self) -> str:
        """Who judged the champion: `nobody`, `caller`, `person`, or a model by name."""
        champion = self.champion
        decision = None if champion is None else self.decisions.get(champion.id)
        if champion is None or decision is None:
            return NOBODY
        if champion.author == PERSON or decision.by == "person":
            return PERSON
        source = source_of(self, champion)
        if source.author == CALLER or source.id in self.declined:
            return CALLER
        reviewed = any(f.judges_task and f.status == "ok" for f in champion.critic_feedback)
        if reviewed or decision.by == "judge":
            return self.config.judge_model or self.config.model
        return NOBODY

    @property
    def facts(self) -> Facts | Literal["warn"] | None:
        """What becomes of differences from the input: as it is configured, or `require`.

        Where a model reviews that has not called the tool it was shown, there is nobody to ask.
        """
        asks = self.config.facts == "ask" and not self.handed_over
        return "require" if asks and any(c.unable for c in self.calls) else self.config.facts

    @property
    def is_edited(self) -> bool:
        """True when the editor changes its texts, and does not only propose to."""
        if self.config.fixes == "auto":
            by_caller = self.config.model == CALLER or bool(self.prompt.strip())
            return self.config.model == EDITOR or not by_caller
        return self.config.fixes != "none"

    def is_declined(self, thought: Thought) -> bool:
        """True when the caller has declined what is left in a version.

        The editor's version of a text inherits that from the text.
        """
        return source_of(self, thought).id in self.declined

    @property
    def iterations(self) -> int:
        """The number of rounds of writing after the first version."""
        return sum(thought.candidate == 0 for thought in self.thoughts[1:])

    @property
    def finished(self) -> bool:
        """True when neither the run itself nor a submission can add to it."""
        return self.status in FINAL

    def summary(self) -> RunSummary:
        """The run in one line."""
        best = self.champion or self.latest
        text = (best.text if best else "") or self.prompt
        return RunSummary(
            run_id=self.run_id,
            status=self.status,
            passed=self.passed,
            stop_reason=self.stop_reason,
            iterations=self.iterations,
            excerpt=" ".join(text[:400].split())[:120],
            created_at=self.created_at,
            updated_at=self.updated_at,
        )

    def _add_answers(self, thought: Thought) -> Thought:
        """The version with what its critics say of differences, where they can say it."""
        if self.config.facts != "ask":
            return thought
        if self.facts == "require":
            findings = thought.findings.with_losses_open()
        else:
            model = self.config.judge_model or self.config.model
            findings = thought.findings.covered(covered_in(thought.critic_feedback), model)
        return thought.model_copy(update={"findings": findings})


Phase = Literal[
    "research", "retrieve", "generate", "validate", "critique", "select", "recover", "stop"
]


class ChainEvent(Frozen):
    """A phase that begins or, when it carries an entry, one whose result is durable."""

    run_id: str
    iteration: int
    phase: Phase
    message: str
    """The action or finding, for a person."""
    research: ResearchStep | None = None
    """The step of research; for the event that ends a run of research, its outcome."""
    section: int | None = None
    """The number of the section the step belongs to, from 0; None for the whole."""
    entry: Entry | None = None
    """The entry, once it was stored."""
    run: Run | None = None
    """The run after that entry."""


Listener = Callable[[ChainEvent], Awaitable[None]]
"""Gets each event of a run as it happens, in the order of the record."""
