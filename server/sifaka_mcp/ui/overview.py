"""The view of a run: what its page shows, without texts, so that a long run opens at once."""

from typing import Literal, Self

from pydantic import BaseModel

from sifaka.chain import RunResult
from sifaka.record.entries import RunStatus, StopReason
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka_mcp.schemas.research import ResearchedOut
from sifaka_mcp.schemas.run_evidence import RunEvidenceOut
from sifaka_mcp.schemas.runs import BriefOut, CheckOut
from sifaka_mcp.schemas.verdicts import DifferenceOut, UsageOut
from sifaka_mcp.ui.version import Sources, WhyView, sources_of
from sifaka_mcp.view.score import critic_score, score_of

_TITLE = 90
"""Characters of a title."""
_DIFFERENCES = 100
"""Differences of a version that are shown, the open ones first."""

Standing = Literal["stands", "accepted", "refused", "open"]
"""`stands` is the best version; an `accepted` one was the best once; `open` is not decided."""


class RuleView(BaseModel):
    """The result of one validator on one version."""

    name: str
    passed: bool
    required: bool
    score: float
    message: str
    unchecked: bool
    suggestions: list[str]


class CriticView(BaseModel):
    """What one critic said of one version, and what its opinion took."""

    name: str
    verdict: str | None
    score: float | None
    reason: str | None
    issues: int
    suggestions: list[str]
    usage: UsageOut


class VersionLine(BaseModel):
    """One version without its text."""

    id: str
    number: int
    parent: int | None
    author: str
    standing: Standing
    reason: str | None
    passed: bool
    score: float | None
    words: int
    characters: int
    rules: list[RuleView]
    critics: list[CriticView]
    differences: list[DifferenceOut]
    usage: UsageOut
    created_at: str

    @classmethod
    def of(cls, run: Run, thought: Thought, places: dict[str, int]) -> Self:
        """The line of a version; `places` maps the ids of versions to their places in the run."""
        decision = run.decisions.get(thought.id)
        standing: Standing = "open"
        if thought.id == run.champion_id:
            standing = "stands"
        elif decision is not None:
            standing = "accepted" if decision.accepted else "refused"
        return cls(
            id=thought.id,
            number=thought.iteration,
            parent=places.get(thought.parent_id or ""),
            author=thought.author,
            standing=standing,
            reason=decision.reason if decision else None,
            passed=thought.passed and decision is not None,
            score=score_of(thought),
            words=len(thought.text.split()),
            characters=len(thought.text),
            rules=[_rule(name, each) for name, each in thought.validation_results.items()],
            critics=[_critic(each) for each in thought.critic_feedback],
            differences=[
                DifferenceOut.model_validate(each)
                for each in thought.findings.differences[:_DIFFERENCES]
            ],
            usage=UsageOut.of(thought.usage),
            created_at=thought.created_at.isoformat(),
        )


class RunView(BaseModel):
    """A run without its texts."""

    run_id: str
    entries: int
    """The number of entries on record: the page asks again when there are more."""
    title: str
    prompt: str
    status: RunStatus
    stop_reason: StopReason | None
    reached: str
    error: str | None
    passed: bool
    model: str
    tags: list[str]
    branch_of: str | None
    champion: int | None
    versions: list[VersionLine]
    left: list[WhyView]
    checked: list[CheckOut]
    declined: str | None
    """The reason for which what is left was declined; None when it was not."""
    declines: list[WhyView]
    """The issues that were declined one by one."""
    degraded: list[str]
    compared_with_original: str | None
    brief: BriefOut | None
    evidence: RunEvidenceOut | None
    research: ResearchedOut | None
    usage: UsageOut
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, run: Run) -> Self:
        """The overview of a run, at any moment of it."""
        result = RunResult(run=run) if run.thoughts else None
        places = {thought.id: place for place, thought in enumerate(run.thoughts)}
        evidence = RunEvidenceOut.of(run)
        champion = run.champion
        sources = sources_of(run.champion or run.latest)
        researches = result is not None and run.config.inquiry is not None
        return cls(
            run_id=run.run_id,
            entries=run.version,
            title=_title(run),
            prompt=run.prompt,
            status=run.status,
            stop_reason=run.stop_reason,
            reached=run.reached,
            error=run.error,
            passed=run.passed,
            model=run.config.model,
            tags=list(run.tags),
            branch_of=run.branch_of,
            champion=places.get(run.champion_id or ""),
            versions=[VersionLine.of(run, each, places) for each in run.thoughts],
            left=_left(result, sources) if result else [],
            checked=[CheckOut.of(each) for each in result.checked] if result else [],
            declined=run.declined.get(champion.id) if champion else None,
            declines=[
                WhyView.of(each.issue, sources, each.reason)
                for each in run.declined_issues
                if each.issue
            ],
            degraded=list(result.degraded) if result else [],
            compared_with_original=run.ending.decision.reason if run.ending else None,
            brief=BriefOut.of(result.brief) if result and result.brief else None,
            evidence=evidence if evidence.versions else None,
            research=ResearchedOut.of(result) if researches and result else None,
            usage=UsageOut.of(run.usage),
            created_at=run.created_at.isoformat(),
            updated_at=run.updated_at.isoformat(),
        )


def _left(result: RunResult, sources: Sources) -> list[WhyView]:
    stands = result.run.champion is not None
    may = {(issue.message, issue.quote) for issue in result.declinable if stands}
    return [
        WhyView.of(each, sources).model_copy(
            update={"may_decline": (each.message, each.quote) in may}
        )
        for each in result.left
    ]


def _rule(name: str, result: ValidationResult) -> RuleView:
    return RuleView(
        name=name,
        passed=result.passed,
        required=result.required,
        score=round(result.score, 4),
        message=result.message,
        unchecked=result.unchecked is not None,
        suggestions=[] if result.passed else list(result.suggestions),
    )


def _critic(feedback: CriticFeedback) -> CriticView:
    return CriticView(
        name=feedback.critic,
        verdict=feedback.verdict,
        score=critic_score(feedback) if feedback.status == "ok" else None,
        reason=feedback.reason,
        issues=len(feedback.issues),
        suggestions=list(feedback.suggestions),
        usage=UsageOut.of(feedback.usage),
    )


def _title(run: Run) -> str:
    best = run.champion or run.latest
    told = (run.prompt or (best.text if best else "")).lstrip()[: 4 * _TITLE]
    line = " ".join(told.partition("\n")[0].lstrip("#").split())
    return line if len(line) <= _TITLE else f"{line[:_TITLE].rstrip()}…"
