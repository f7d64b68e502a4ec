"""The entries a run consists of: each is one durable step, none is ever changed."""

import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import Field

from sifaka.budget import Budget
from sifaka.immutable import Frozen, FrozenJson, FrozenMap
from sifaka.results import CriticFeedback, Usage, ValidationResult
from sifaka.thought import Document, Thought, new_run_id

RunStatus = Literal["done", "needs_revision", "running", "cancelled", "failed"]
StopReason = Literal[
    "passed",
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
FINAL: frozenset[RunStatus] = frozenset({"done", "cancelled", "failed"})


class ChainConfig(Frozen):
    """What a run was configured with, as data: another process builds the same chain from it."""

    model: str = "auto"
    validators: tuple[FrozenJson, ...] = ()
    critics: tuple[FrozenJson, ...] = ()
    retrievers: tuple[FrozenJson, ...] = ()
    policy: Literal["best", "last"] = "best"
    max_iterations: int = Field(default=3, ge=0)
    budget: Budget = Budget()
    judge_model: str | None = None
    """The model of the critics that name none; the writer's when None."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all of it, so that a changed configuration is noticed."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return sha256(canonical.encode()).hexdigest()


class Decision(Frozen):
    """Whether a version became the champion, and why or why not."""

    accepted: bool
    reason: str


class _Entry(Frozen):
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    usage: Usage = Usage()
    """What was spent since the entry before, failed calls included."""


class Started(_Entry):
    """The run exists."""

    kind: Literal["started"] = "started"
    run_id: str = Field(default_factory=new_run_id)
    prompt: str = ""
    config: ChainConfig = ChainConfig()


class Drafted(_Entry):
    """A version was written: the input, a generation, an edit or a submission."""

    kind: Literal["drafted"] = "drafted"
    thought: Thought


class Retrieved(_Entry):
    """Documents were found for the critics of a version."""

    kind: Literal["retrieved"] = "retrieved"
    thought_id: str
    documents: tuple[Document, ...]


class Validated(_Entry):
    """Every validator has looked at a version."""

    kind: Literal["validated"] = "validated"
    thought_id: str
    results: FrozenMap[ValidationResult]


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


class Stopped(_Entry):
    """The run ended or waits for its caller."""

    kind: Literal["stopped"] = "stopped"
    status: RunStatus
    stop_reason: StopReason
    error: str | None = None
    """One line on what failed and what to do, with status `failed`."""


Entry = Annotated[
    Started | Drafted | Retrieved | Validated | Critiqued | Decided | Stopped,
    Field(discriminator="kind"),
]
