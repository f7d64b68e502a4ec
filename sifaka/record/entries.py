"""The entries a run consists of: each is one durable step, none is ever changed."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import (
    AliasChoices,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from sifaka._internal.immutable import Frozen, FrozenJson, FrozenMap
from sifaka.record.research_question import Inquiry, ResearchStep
from sifaka.record.results import CriticFeedback, Findings, Issue, ValidationResult
from sifaka.record.rule_choice import RuleChoice
from sifaka.record.thought import Document, Thought, new_run_id
from sifaka.record.usage import Budget, Usage
from sifaka.text.sections import SECTION_CHARS

RunStatus = Literal["done", "needs_revision", "running", "cancelled", "failed"]
StopReason = Literal[
    "passed",
    "rules_met",
    "accepted",
    "issues_left",
    "unchecked",
    "max_iterations",
    "budget_calls",
    "budget_tokens",
    "budget_seconds",
    "budget_cost",
    "stalled",
    "no_safe_edit",
    "awaiting_revision",
    "cancelled",
    "error",
]
Policy = Literal["best", "judged", "best_of_n", "last"]
Fixes = Literal["auto", "none", "safe", "suggested"]
Facts = Literal["off", "ask", "require"]
"""Whether differences from the input are left alone, asked about, or refused."""
FORM = 3
"""The number of the form of records, which grows when they mean something else."""


def stricter(one: Facts, other: Facts) -> Facts:
    """The one of the two under which less passes."""
    order = get_args(Facts)
    return one if order.index(one) >= order.index(other) else other


INTERRUPTED = "interrupted"
"""The code of a run that has stopped only because its process was told to end."""
FINAL: frozenset[RunStatus] = frozenset({"done", "cancelled", "failed"})


class ChainConfig(Frozen):
    """The configuration of a run, as data: another process builds the same chain from it.

    What only an older form had is left out when it is read.
    """

    model_config = ConfigDict(extra="ignore")

    model: str = "auto"
    validators: tuple[FrozenJson, ...] = ()
    critics: tuple[FrozenJson, ...] = ()
    retrievers: tuple[FrozenJson, ...] = ()
    policy: Policy = "best"
    width: int = Field(default=1, ge=1, le=16)
    """Versions written at the same time, of which the best goes on (`best_of_n`, `judged`)."""
    max_edit_ratio: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The largest share of the original's words that may be changed; None means any."""
    protect: bool = True
    """True when code, numbers, quotes, links and names must survive in a run without a task."""
    patience: int | None = Field(default=1, ge=1)
    """Rounds in a row of which all versions lose by opinion, after which a model is not asked
    again; None means no limit. What is measured is reported to its writer, to mend."""
    critic_deadline: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Seconds after which a critic that has not answered abstains."""
    max_iterations: int = Field(default=3, ge=0)
    budget: Budget = Field(default_factory=Budget)
    judge_model: str | None = None
    """The model of the critics that name none, and of judges; the writer's when None."""
    fallback_models: tuple[str, ...] = ()
    """Asked in this order when the writer's model, or the judge's, has failed for good."""
    section_chars: int | None = Field(default=SECTION_CHARS, ge=2_000)
    """Characters beyond which a text is worked on section by section; None means never."""
    inquiry: Inquiry | None = None
    """The research for the first version; None when it is given, or written from the task."""
    fixes: Fixes | None = None
    """The fixes that the editor makes in the input and in every version of a model; None in records
    of runs from before there was a choice, in which it edited for callers alone. `auto` are the
    safe ones of a run without a task."""
    format: str | None = None
    """The format of the text; recognised by its look when None."""
    lint_rules: RuleChoice | None = None
    """The editor's rules that are wanted, and the words that are right; `default` when None."""
    facts: Facts | Literal["warn"] | None = None
    """What becomes of differences from the input; `warn` in records of form 1, None in those from
    before it."""
    own_review: bool = False
    """True when the caller reads its first version once more, by a sheet, after it was taken."""
    look_back: int | None = Field(default=None, ge=0, le=9)
    """The comparisons of the best version with the input at the end, each in both orders, of which
    a review may have given one; None where there is no judge. Records of an older form have the
    lead that was needed."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all of it, so that a changed configuration is noticed."""
        usual = {
            "fixes": "auto",
            "format": None,
            "lint_rules": None,
            "facts": "ask",
            "look_back": 1,
        }
        left_out = {name for name in usual if getattr(self, name) in {None, usual[name]}}
        data = self.model_dump(mode="json", exclude=left_out)
        if self.inquiry is not None and not self.inquiry.sources:
            del data["inquiry"]["sources"]
        return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


TAG = "1 to 64 letters, digits or characters of _ . / @ -"
"""The form of a tag, in words."""
MOST_TAGS = 32


def _explain_tag(value: object, check: ValidatorFunctionWrapHandler) -> str:
    try:
        return check(value)
    except ValidationError:
        raise ValueError(f"should be {TAG}") from None


Tag = Annotated[
    str,
    # The bound is not in the pattern: `{1,64}` takes 15 ms to compile.
    StringConstraints(pattern=r"^[\w./@-]+$", max_length=64),
    WrapValidator(_explain_tag),
]
"""A word to find runs by: see `TAG`."""
Strategy = Literal["retry", "skip", "restart_iteration", "shorter_context", "fewer_parallel_calls"]


class Measure(Frozen):
    """What tells two versions apart: a criterion with its value for each, smaller is better."""

    criterion: str
    new: float
    old: float


class Count(Frozen):
    """The comparisons of two versions by a judge, both orders each."""

    candidate: int
    champion: int
    repeats: int


Decider = Literal[
    "first",
    "rules",
    "differences",
    "caller",
    "person",
    "critics",
    "judge",
    "editor",
    "task",
    "same_text",
    "size",
    "policy",
    "unfit",
    "",
]
"""What a decision was taken by; empty in records of an older form."""


class Decision(Frozen):
    """The decision on a version: champion or not, by what, and over which other version."""

    model_config = ConfigDict(populate_by_name=True)

    accepted: bool
    by: Decider = ""
    over: int | None = None
    """The number of the version it was compared with."""
    measure: Measure | None = None
    votes: Count | None = None
    differences: tuple[str, ...] = ()
    """The ids of the open differences that kept it from being taken."""
    clear: bool = True
    """False where votes were no clear lead, so that doubt decided."""
    note: str = Field(default="", validation_alias=AliasChoices("note", "reason"))
    """What no measure says: the rules a person's version breaks, the fault of an unfit answer; all
    of the reason in records of an older form."""

    @property
    def reason(self) -> str:
        """The decision in words."""
        if self.by == "judge" and self.note:
            return f"not compared with version {self.over}: {self.note}"
        if self.by == "size" and self.measure is not None:
            share, most = self.measure.new, self.measure.old
            return f"changes {share:.0%} of the original's words, {most:.0%} are allowed"
        if self.measure is not None:
            new, old = self.measure.new, self.measure.old
            relation = f"{'better' if new < old else 'worse'} in {self.measure.criterion}"
            return f"{relation}: {new:.3g}, version {self.over} has {old:.3g}"
        if self.votes is not None:
            doubt = "" if self.clear else "; that is not clear, and what is in doubt stays"
            of = f"{self.votes.candidate} of {self.votes.repeats} comparisons in both orders"
            return f"preferred in {of}, version {self.over} in {self.votes.champion}{doubt}"
        template = _MESSAGES.get(self.by, "{note}")
        return template.format(over=self.over, note=self.note, count=len(self.differences))


_MESSAGES: Mapping[Decider, str] = MappingProxyType(
    {
        "first": "the first version",
        "differences": "differences from the original that nobody has answered: {count}",
        "caller": "the caller's version, and it breaks no more rules",
        "person": "a person said so{note}",
        "editor": "safe edits, nothing else changed",
        "task": "written for the task, and nothing that was measured is worse",
        "same_text": "the same text as version {over}",
        "policy": "the last version, as the policy wants",
    }
)


class _Entry(Frozen):
    at: datetime = Field(default_factory=partial(datetime.now, UTC))
    usage: Usage = Field(default_factory=Usage)
    """Usage since the entry before, failed calls included."""


class RunStart(Frozen):
    """What a run is started with."""

    run_id: str = Field(default_factory=new_run_id)
    prompt: str = ""
    config: ChainConfig = Field(default_factory=ChainConfig)
    frame_key: str = Field(default="", repr=False)
    """The secret in the marks around quoted material, which keeps its authors from forging them;
    the run's id when empty."""
    form: int = 1
    """See `FORM`; 1 in records from before it was recorded."""
    prompts: int = 1
    """The version of the prompts to models; 1 in records of runs from before it was recorded."""
    mends: bool = False
    """True when what is not of a draft is taken off it; False in records from before that."""
    branch_of: str | None = None
    """The run whose best version this one began with, under another configuration."""
    tags: tuple[Tag, ...] = Field(default=(), max_length=MOST_TAGS)
    """Words to find it by."""
    remembered: tuple[str, ...] = ()
    """Lessons of similar past runs, for the writer."""


class Started(_Entry, RunStart):
    """The run exists."""

    kind: Literal["started"] = "started"


class Drafted(_Entry):
    """A version was written: the input, a generation, an edit or a submission."""

    kind: Literal["drafted"] = "drafted"
    thought: Thought


class Retrieved(_Entry):
    """Documents were found for the critics of a version."""

    kind: Literal["retrieved"] = "retrieved"
    thought_id: str
    documents: tuple[Document, ...]
    degraded: tuple[str, ...] = ()
    """Retrievers that failed, one line each."""


class Validated(_Entry):
    """Every validator has looked at a version."""

    kind: Literal["validated"] = "validated"
    thought_id: str
    results: FrozenMap[ValidationResult]
    findings: Findings = Field(default_factory=Findings)


class Critiqued(_Entry):
    """Every critic has looked at a version."""

    kind: Literal["critiqued"] = "critiqued"
    thought_id: str
    feedback: tuple[CriticFeedback, ...]


class Decided(_Entry):
    """A version was compared with the champion."""

    kind: Literal["decided"] = "decided"
    thought_id: str
    decision: Decision


class Declined(_Entry):
    """The caller has declined the issues that are left in a version, or one of them."""

    kind: Literal["declined"] = "declined"
    thought_id: str
    reason: str = ""
    issue: Issue | None = None  # None is for all that is left


class Called(_Entry):
    """An answer of a model or a source of evidence, durable before it is used."""

    kind: Literal["called"] = "called"
    key: str
    """Version, role and number of the call: the same each time the run is worked on."""
    request: str
    """SHA-256 of what was asked, so that an answer to another question is never taken."""
    model: str
    fallback: bool = False
    """True when it answered in place of the configured model."""
    unable: bool = False
    """True of a local model that has not called the tool that it was shown."""
    response: str
    """The answer: of a model PydanticAI's `ModelResponse` in JSON, else what its source gave."""


class Researched(_Entry):
    """A step of the research that the first version is written from: what a resume goes on from."""

    kind: Literal["researched"] = "researched"
    step: ResearchStep
    section: int | None = None
    """The number of the section it belongs to, from 0; None for the whole."""
    title: str = ""
    """The section's."""
    iteration: int = 0
    """The round of searches that it ends, from 1."""
    message: str = ""
    """The finding or failure, for a person."""
    state: FrozenJson = Field(default_factory=dict[str, object])
    """The result of the step, in the form of `sifaka.research`."""


class Anchored(_Entry):
    """The champion was compared with the original once more, at the end."""

    kind: Literal["anchored"] = "anchored"
    decision: Decision
    """Accepted when the champion stays; otherwise `champion_id` takes its place."""
    champion_id: str | None = None
    """The version that the champion was compared with; version 0 when None."""
    settled: bool = True
    """False when the comparison was not made, or broke off: the champion stays unchecked."""
    status: RunStatus
    stop_reason: StopReason
    """The reason for which the run stops after this."""


class Recovered(_Entry):
    """After a failure it was decided how to go on."""

    kind: Literal["recovered"] = "recovered"
    strategy: Strategy
    error: str
    """The failure, in one line."""
    thought_id: str | None = None
    """The version that was worked on."""
    phase: str = ""
    """The last phase that was durable."""


class Stopped(_Entry):
    """The run ended or waits for its caller."""

    kind: Literal["stopped"] = "stopped"
    status: RunStatus
    stop_reason: StopReason
    error: str | None = None
    """One line: what failed and what to do; with `needs_revision`, why no model writes."""
    code: str | None = None
    """The error's code or kind, for what decides how to go on."""
    retry_after: float | None = None
    """Seconds that the provider asked to wait, where it said so."""


Entry = Annotated[
    Started
    | Drafted
    | Retrieved
    | Validated
    | Critiqued
    | Decided
    | Declined
    | Called
    | Researched
    | Anchored
    | Recovered
    | Stopped,
    Field(discriminator="kind"),
]
