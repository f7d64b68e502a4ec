"""The view of a run: what its page shows, without texts, so that a long run opens at once."""

from sifaka.chain import RunResult
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka_mcp.schemas.research import ResearchedOut
from sifaka_mcp.schemas.run_evidence import evidence_of
from sifaka_mcp.schemas.runs import BriefOut, CheckOut
from sifaka_mcp.schemas.verdicts import DifferenceOut, UsageOut
from sifaka_mcp.ui.version import Data, Sources, sources_of, why_of
from sifaka_mcp.view.score import critic_score, score_of

_TITLE = 90
"""Characters of a title."""
_DIFFERENCES = 100
"""Differences of a version that are shown, the open ones first."""


def overview_of(run: Run) -> Data:
    """The overview of a run, at any moment of it."""
    result = RunResult(run=run) if run.thoughts else None
    places = {thought.id: place for place, thought in enumerate(run.thoughts)}
    evidence = evidence_of(run)
    champion = run.champion
    sources = sources_of(run.champion or run.latest)
    researches = result is not None and run.config.inquiry is not None
    return {
        "run_id": run.run_id,
        "entries": run.version,  # the page asks again when there are more
        "title": _title(run),
        "prompt": run.prompt,
        "status": run.status,
        "stop_reason": run.stop_reason,
        "reached": run.reached,
        "error": run.error,
        "passed": run.passed,
        "model": run.config.model,
        "tags": run.tags,
        "branch_of": run.branch_of,
        "champion": places.get(run.champion_id or ""),
        "versions": [_version(run, each, places) for each in run.thoughts],
        "left": _left(result, sources) if result else [],
        "checked": [CheckOut.of(each) for each in result.checked] if result else [],
        # The reason for which what is left was declined, and the issues declined one by one.
        "declined": run.declined.get(champion.id) if champion else None,
        "declines": [
            why_of(each.issue, sources, each.reason) for each in run.declined_issues if each.issue
        ],
        "degraded": result.degraded if result else [],
        "compared_with_original": run.ending.decision.reason if run.ending else None,
        "brief": BriefOut.of(result.brief) if result and result.brief else None,
        "evidence": evidence if evidence["versions"] else None,
        "research": ResearchedOut.of(result) if researches and result else None,
        "usage": UsageOut.of(run.usage),
        "created_at": run.created_at.isoformat(),
        "updated_at": run.updated_at.isoformat(),
    }


def _version(run: Run, thought: Thought, places: dict[str, int]) -> Data:
    """One version without its text; `places` are those of versions in the run, by their ids."""
    decision = run.decisions.get(thought.id)
    standing = "open"
    if thought.id == run.champion_id:
        standing = "stands"
    elif decision is not None:
        standing = "accepted" if decision.accepted else "refused"
    return {
        "id": thought.id,
        "number": thought.iteration,
        "parent": places.get(thought.parent_id or ""),
        "author": thought.author,
        # `stands` is the best version; an `accepted` one was the best once; `open` is not decided.
        "standing": standing,
        "reason": decision.reason if decision else None,
        "passed": thought.passed and decision is not None,
        "score": score_of(thought),
        "words": len(thought.text.split()),
        "characters": len(thought.text),
        "rules": [_rule(name, each) for name, each in thought.validation_results.items()],
        "critics": [_critic(each) for each in thought.critic_feedback],
        "differences": [
            DifferenceOut.of(each) for each in thought.findings.differences[:_DIFFERENCES]
        ],
        "usage": UsageOut.of(thought.usage),
        "created_at": thought.created_at.isoformat(),
    }


def _left(result: RunResult, sources: Sources) -> list[Data]:
    stands = result.run.champion is not None
    may = {(issue.message, issue.quote) for issue in result.declinable if stands}
    return [
        why_of(each, sources, may_decline=(each.message, each.quote) in may) for each in result.left
    ]


def _rule(name: str, result: ValidationResult) -> Data:
    """The result of one validator on one version."""
    return {
        "name": name,
        "passed": result.passed,
        "required": result.required,
        "score": round(result.score, 4),
        "message": result.message,
        "unchecked": result.unchecked is not None,
        "suggestions": [] if result.passed else result.suggestions,
    }


def _critic(feedback: CriticFeedback) -> Data:
    """What one critic said of one version, and what its opinion took."""
    return {
        "name": feedback.critic,
        "verdict": feedback.verdict,
        "score": critic_score(feedback) if feedback.status == "ok" else None,
        "reason": feedback.reason,
        "issues": len(feedback.issues),
        "suggestions": feedback.suggestions,
        "usage": UsageOut.of(feedback.usage),
    }


def _title(run: Run) -> str:
    best = run.champion or run.latest
    told = (run.prompt or (best.text if best else "")).lstrip()[: 4 * _TITLE]
    line = " ".join(told.partition("\n")[0].lstrip("#").split())
    return line if len(line) <= _TITLE else f"{line[:_TITLE].rstrip()}…"
