"""One version of a run: its text, its changes and the issues found in it.

A comparison has lengths, not words: the page has the other text, or asks for it. Lengths and
offsets are in UTF-16 code units, in which JavaScript counts.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from sifaka.record.clustering import decline_of
from sifaka.record.diff import Hunk
from sifaka.record.provenance import Steps, explained_diff, issues_of, step_diff
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought
from sifaka_mcp.schemas.verdicts import UsageOut
from sifaka_mcp.view.edits import edits

Data = dict[str, Any]
_OPS = {"equal": "=", "insert": "+", "delete": "-", "replace": "~"}


def version_of(run: Run, place: int) -> Data:
    """A version of a run by its place among the versions.

    Returns:
        Its text, the `whys` behind changes and marks (see `why_of`), the `marks` of issues, and the
        `comparisons` with the `input` and the `parent`: the place of that version and its hunks,
        each a kind (`=`, `+`, `-`, `~`), the lengths before and after, and the place in `whys`
        or -1.

    Raises:
        IndexError: The run has no such version.
    """
    if place < 0:
        raise IndexError(place)
    thought = run.thoughts[place]
    whys = _Whys(run, thought)
    units = Units(thought.text)
    comparisons: dict[str, Data] = {}
    steps = _steps(run.run_id, run.created_at)
    if place > 0:
        hunks = explained_diff(run, thought, steps)
        comparisons["input"] = {"base": 0, "hunks": [*_lengths(hunks, whys)]}
    parent = next((n for n, t in enumerate(run.thoughts) if t.id == thought.parent_id), 0)
    if place > 0 and parent > 0:
        hunks = step_diff(run.thoughts[parent], thought, steps)
        comparisons["parent"] = {"base": parent, "hunks": [*_lengths(hunks, whys)]}
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


Sources = dict[str, tuple[str, CriticFeedback | None]]
"""By the message of an issue, its validator or critic, and what that said."""


def why_of(
    issue: Issue, sources: Sources, declined: str | None = None, *, may_decline: bool = False
) -> Data:
    """The issue behind a change or a mark, and where it comes from.

    Args:
        issue: The issue.
        sources: Who may have reported it. Its source is empty when it is not known; the usage is
            that of the whole opinion, None where no model was asked.
        declined: A person's reason for declining it; None when it was not.
        may_decline: True for what a critic has left in the version that stands.
    """
    source, feedback = sources.get(issue.message, ("", None))
    asked = feedback is not None and feedback.usage.model_calls > 0
    return {
        "message": issue.message,
        "source": source,
        "category": issue.category,
        "rule": issue.rule,
        "severity": issue.severity,
        "quote": issue.quote,
        "fix": issue.fix,
        "usage": UsageOut.of(feedback.usage) if feedback and asked else None,
        "declined": declined,
        "may_decline": may_decline,
    }


def sources_of(thought: Thought | None) -> Sources:
    """The sources of the issues of a version."""
    found: Sources = {}
    for name, result in thought.validation_results.items() if thought else ():
        found |= {issue.message: (name, None) for issue in result.issues}
    for feedback in thought.critic_feedback if thought else ():
        found |= {issue.message: (feedback.critic, feedback) for issue in feedback.issues}
    return found


@lru_cache(maxsize=4)
def _steps(run_id: str, created_at: datetime) -> Steps:
    """The steps of a run that were compared: pages ask for one version after the other."""
    del run_id, created_at
    return Steps()


class Units:
    """Converts offsets in a text from code points to UTF-16 code units."""

    def __init__(self, text: str) -> None:
        plain = text.isascii() or max(text) <= "\uffff"
        self._wide = [] if plain else [n for n, c in enumerate(text) if c > "\uffff"]

    def at(self, offset: int) -> int:
        """The same offset in code units."""
        return offset + bisect_left(self._wide, offset)


def _length(text: str) -> int:
    return Units(text).at(len(text)) if text else 0


class _Whys:
    """The issues that changes and marks of a version refer to, each once."""

    def __init__(self, run: Run, thought: Thought) -> None:
        line = [*(run.thought(each.thought_id) for each in thought.history), thought]
        self._sources: Sources = {}
        self._issues: dict[str, Issue] = {}
        for each in line:
            self._sources |= sources_of(each)
            self._issues |= {issue.message: issue for issue in issues_of(each)}
            for edit in _edits(each):
                message = str(edit.get("message", ""))
                self._sources.setdefault(message, (EDITOR, None))
                rule = edit.get("rule")
                known = Issue(message=message, severity=1, rule=str(rule) if rule else None)
                self._issues.setdefault(message, known)
        self._run = run
        self._thought = thought
        by_critics = thought.id == run.champion_id and not run.is_declined(thought)
        said = (i for f in thought.critic_feedback for i in f.issues if by_critics)
        self._declinable = {(issue.message, issue.quote) for issue in said}
        self._places: dict[str, int] = {}
        self.all: list[Data] = []

    def of_reason(self, reason: str | None) -> int:
        """The place of the issue with this message; -1 without one."""
        if reason is None:
            return -1
        issue = self._issues.get(reason) or Issue(message=reason, severity=1)
        return self._place(f"{issue.message}\0{issue.quote}", issue)

    def of_mark(self, issue: Issue) -> int:
        """The place of an issue of this version, which may have been declined, or may be."""
        entry = decline_of(self._run, self._thought, issue)
        may = entry is None and (issue.message, issue.quote) in self._declinable
        key = f"{issue.message}\0{issue.quote}\0{entry is None}"
        return self._place(key, issue, entry.reason if entry else None, may_decline=may)

    def _place(
        self, key: str, issue: Issue, declined: str | None = None, *, may_decline: bool = False
    ) -> int:
        """The place of an issue, to which it is added when it is new."""
        if key not in self._places:
            self._places[key] = len(self.all)
            self.all.append(why_of(issue, self._sources, declined, may_decline=may_decline))
        return self._places[key]


def _edits(thought: Thought) -> Sequence[Mapping[str, Any]]:
    logged = thought.metadata.get("edits", ()) if thought.author == EDITOR else ()
    return cast("Sequence[Mapping[str, Any]]", logged)


def _lengths(hunks: Iterable[Hunk], whys: _Whys) -> Iterator[tuple[str, int, int, int]]:
    for hunk in edits(hunks):
        why = -1 if hunk.op == "equal" else whys.of_reason(hunk.reason)
        yield _OPS[hunk.op], _length(hunk.before), _length(hunk.after), why
