"""What the page of a run shows: the run without texts, so that it opens at once, and a version.

A comparison has lengths, not words: the page has the other text, or asks for it. Lengths and
offsets are in UTF-16 code units, in which JavaScript counts.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from sifaka.chain import RunResult
from sifaka.chain.brief import Door
from sifaka.record.clustering import decline_of
from sifaka.record.diff import Hunk
from sifaka.record.outcome import open_task
from sifaka.record.provenance import Steps, explained_diff, issues_of, step_diff
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought
from sifaka_mcp.schemas.evidence import evidence_of
from sifaka_mcp.schemas.runs import BriefOut, CheckOut, ResearchedOut
from sifaka_mcp.schemas.verdicts import DifferenceOut, UsageOut
from sifaka_mcp.view.edits import edits

_TITLE = 90
"""Characters of a title."""
_DIFFERENCES = 100
"""Differences of a version that are shown, the open ones first."""
PAGE = Door(
    write="press “Edit”",
    end="“Decline what is left”",
    keep="“Decline what is left”",
    answer="“Accept” among the differences",
    note="",
)
"""The buttons of a page that acts."""
Data = dict[str, Any]
Sources = dict[str, tuple[Issue, str, CriticFeedback | None]]
"""By the message of an issue, it, its validator or critic, and what that said."""
_OPS = {"equal": "=", "insert": "+", "delete": "-", "replace": "~"}
_STANDINGS = {None: "open", True: "accepted", False: "refused"}
_GRAVITY = 10
"""Severities of issues, added up, at which the score of a critic without scores is a half."""


def overview_of(run: Run) -> Data:
    """The overview of a run, at any moment of it."""
    result = RunResult(run=run) if run.thoughts else None
    brief = result and result.brief_at(PAGE)
    places = {thought.id: place for place, thought in enumerate(run.thoughts)}
    evidence = evidence_of(run)
    champion = run.champion
    sources = sources_of(champion or run.latest)
    researches = result is not None and run.config.inquiry is not None
    declinable = result.declinable if result and champion else ()
    may = {(issue.message, issue.quote) for issue in declinable}
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
        "judged_by": run.judged_by,
        "undone": open_task(run),
        "model": run.config.model,
        "tags": run.tags,
        "branch_of": run.branch_of,
        "champion": places.get(run.champion_id or ""),
        "versions": [_describe_version(run, each, places) for each in run.thoughts],
        "left": [
            why_of(each, sources, may_decline=(each.message, each.quote) in may)
            for each in (result.left if result else ())
        ],
        "checked": [CheckOut.of(each) for each in result.checked] if result else [],
        # The reason for which what is left was declined, and the issues declined one by one.
        "declined": run.declined.get(champion.id) if champion else None,
        "declines": [
            why_of(each.issue, sources, each.reason) for each in run.declined_issues if each.issue
        ],
        "degraded": result.degraded if result else [],
        "compared_with_original": run.ending.decision.reason if run.ending else None,
        "brief": brief and BriefOut.of(brief),
        "evidence": evidence if evidence["versions"] else None,
        "research": ResearchedOut.of(result) if researches and result else None,
        "usage": UsageOut.of(run.usage),
        "created_at": run.created_at.isoformat(),
        "updated_at": run.updated_at.isoformat(),
    }


def _describe_version(run: Run, thought: Thought, places: dict[str, int]) -> Data:
    """One version without its text; `places` are those of versions in the run, by their ids."""
    decision = run.decisions.get(thought.id)
    standing = "stands"
    if thought.id != run.champion_id:
        standing = _STANDINGS[decision and decision.accepted]
    return {
        "id": thought.id,
        "number": thought.iteration,
        "parent": places.get(thought.parent_id or ""),
        "author": thought.author,
        # `stands` marks the best version; `accepted` one that was it once; `open` one not decided.
        "standing": standing,
        "reason": decision.reason if decision else None,
        "passed": thought.passed and decision is not None,
        "score": score_of(thought),
        "words": len(thought.text.split()),
        "characters": len(thought.text),
        "rules": [
            {
                "name": name,
                "passed": result.passed,
                "required": result.required,
                "score": round(result.score, 4),
                "message": result.message,
                "unchecked": result.unchecked is not None,
                "suggestions": [] if result.passed else result.suggestions,
            }
            for name, result in thought.validation_results.items()
        ],
        "critics": [
            {
                "name": feedback.critic,
                "verdict": feedback.verdict,
                "score": critic_score(feedback) if feedback.status == "ok" else None,
                "reason": feedback.reason,
                "issues": len(feedback.issues),
                "suggestions": feedback.suggestions,
                "usage": UsageOut.of(feedback.usage),
            }
            for feedback in thought.critic_feedback
        ],
        "differences": [
            DifferenceOut.of(each) for each in thought.findings.differences[:_DIFFERENCES]
        ],
        "usage": UsageOut.of(thought.usage),
        "created_at": thought.created_at.isoformat(),
    }


def _title(run: Run) -> str:
    best = run.champion or run.latest
    text = (run.prompt or (best.text if best else "")).lstrip()[: 4 * _TITLE]
    line = " ".join(text.partition("\n")[0].lstrip("#").split())
    return line if len(line) <= _TITLE else f"{line[:_TITLE].rstrip()}…"


def version_of(run: Run, place: int) -> Data:
    """A version of a run by its place among the versions, from 0.

    Returns:
        Its text, the `whys` behind changes and marks (see `why_of`), the `marks` of issues, and the
        `comparisons` with the `input` and the `parent`: the place of that version and its hunks,
        each a kind (`=`, `+`, `-`, `~`), the lengths before and after, and the place in `whys`
        or -1.

    Raises:
        IndexError: The run has no such version.
    """
    thought = run.thoughts[place]
    whys = _Whys(run, thought)
    units = Units(thought.text)
    comparisons: dict[str, Data] = {}
    steps = _steps(run.run_id, run.created_at)
    if place > 0:
        hunks = explained_diff(run, thought, steps)
        comparisons["input"] = {"base": 0, "hunks": [*_measure_hunks(hunks, whys)]}
    parent = next((n for n, t in enumerate(run.thoughts) if t.id == thought.parent_id), 0)
    if place > 0 and parent > 0:
        hunks = step_diff(run.thoughts[parent], thought, steps)
        comparisons["parent"] = {"base": parent, "hunks": [*_measure_hunks(hunks, whys)]}
    marks = [
        {"start": units.at(i.start), "end": units.at(i.end), "why": whys.of_mark(i)}
        for i in issues_of(thought)
        if i.start is not None and i.end is not None
    ]
    return {
        "run_id": run.run_id,
        "place": place,
        "text": thought.text,
        "comparisons": comparisons,
        "marks": marks,
        "whys": whys.all,
    }


def why_of(
    issue: Issue, sources: Sources, declined: str | None = None, *, may_decline: bool = False
) -> Data:
    """The issue behind a change or a mark, and where it comes from.

    Args:
        issue: The issue.
        sources: Who may have reported it. Its source is empty when it is not known; the usage is
            that of the whole opinion, None where no model was asked.
        declined: A person's reason for declining it; None when it was not.
        may_decline: True for what a critic has left in the best version.
    """
    _, source, feedback = sources.get(issue.message, (issue, "", None))
    used_model = feedback is not None and feedback.usage.model_calls > 0
    return {
        "message": issue.message,
        "source": source,
        "category": issue.category,
        "rule": issue.rule,
        "severity": issue.severity,
        "quote": issue.quote,
        "fix": issue.fix,
        "usage": UsageOut.of(feedback.usage) if feedback and used_model else None,
        "declined": declined,
        "may_decline": may_decline,
    }


def sources_of(thought: Thought | None) -> Sources:
    """The sources of the issues of a version."""
    sources: Sources = {}
    for name, result in thought.validation_results.items() if thought else ():
        sources |= {each.message: (each, name, None) for each in result.issues}
    for feedback in thought.critic_feedback if thought else ():
        sources |= {each.message: (each, feedback.critic, feedback) for each in feedback.issues}
    return sources


@lru_cache(maxsize=4)
def _steps(run_id: str, created_at: datetime) -> Steps:
    """The steps of a run that were compared: pages ask for one version after the other."""
    del run_id, created_at
    return Steps()


class Units:
    """Converts offsets in a text from code points to UTF-16 code units."""

    def __init__(self, text: str) -> None:
        is_narrow = text.isascii() or max(text) <= "\uffff"
        self._wide = [] if is_narrow else [n for n, c in enumerate(text) if c > "\uffff"]

    def at(self, offset: int) -> int:
        """The same offset in code units."""
        return offset + bisect_left(self._wide, offset)


def _count_units(text: str) -> int:
    return Units(text).at(len(text)) if text else 0


class _Whys:
    """The issues that changes and marks of a version refer to, each once."""

    def __init__(self, run: Run, thought: Thought) -> None:
        line = [*(run.thought(each.thought_id) for each in thought.history), thought]
        self._sources: Sources = {}
        for each in line:
            self._sources |= sources_of(each)
            logged = each.metadata.get("edits", ()) if each.author == EDITOR else ()
            for edit in cast("Sequence[Mapping[str, Any]]", logged):
                message, rule = str(edit.get("message", "")), edit.get("rule")
                issue = Issue(message=message, severity=1, rule=str(rule) if rule else None)
                self._sources.setdefault(message, (issue, EDITOR, None))
        self._run = run
        self._thought = thought
        by_critics = thought.id == run.champion_id and not run.is_declined(thought)
        issues = (i for f in thought.critic_feedback for i in f.issues if by_critics)
        self._declinable = {(issue.message, issue.quote) for issue in issues}
        self._places: dict[str, int] = {}
        self.all: list[Data] = []

    def of_reason(self, reason: str) -> int:
        """The place of the issue with this message."""
        known = self._sources.get(reason)
        issue = known[0] if known else Issue(message=reason, severity=1)
        return self._add_issue(f"{issue.message}\0{issue.quote}", issue)

    def of_mark(self, issue: Issue) -> int:
        """The place of an issue of this version, which may have been declined, or may be."""
        entry = decline_of(self._run, self._thought, issue)
        may = entry is None and (issue.message, issue.quote) in self._declinable
        key = f"{issue.message}\0{issue.quote}\0{entry is None}"
        return self._add_issue(key, issue, entry.reason if entry else None, may_decline=may)

    def _add_issue(
        self, key: str, issue: Issue, declined: str | None = None, *, may_decline: bool = False
    ) -> int:
        """The place of an issue, to which it is added when it is new."""
        if key not in self._places:
            self._places[key] = len(self.all)
            self.all.append(why_of(issue, self._sources, declined, may_decline=may_decline))
        return self._places[key]


def _measure_hunks(hunks: Iterable[Hunk], whys: _Whys) -> Iterator[tuple[str, int, int, int]]:
    for hunk in edits(hunks):
        reason = None if hunk.op == "equal" else hunk.reason
        why = -1 if reason is None else whys.of_reason(reason)
        yield _OPS[hunk.op], _count_units(hunk.before), _count_units(hunk.after), why


def score_of(thought: Thought) -> float | None:
    """The score of a version from 0 to 1, for a picture: the mean over its rules and critics.

    A critic without scores of its own counts by the issues that it found. None before anything has
    looked at the version. Versions are not chosen by it: see `sifaka.chain.acceptance`.
    """
    rules = [r.score for r in thought.validation_results.values() if r.unchecked is None]
    critics = (critic_score(f) for f in thought.critic_feedback if f.status == "ok")
    scores = [*rules, *(each for each in critics if each is not None)]
    return round(sum(scores) / len(scores), 4) if scores else None


def critic_score(feedback: CriticFeedback) -> float | None:
    """The score of one opinion, from 0 to 1; None where it has no verdict and no issue."""
    if feedback.scores:
        return round(sum(feedback.scores.values()) / len(feedback.scores), 4)
    if feedback.verdict is None and not feedback.issues:
        return None
    return round(_GRAVITY / (_GRAVITY + sum(issue.severity for issue in feedback.issues)), 4)
