"""One version of a run: its text, its changes and the issues found in it.

A comparison has lengths, not words: the page has the other text, or asks for it. Lengths and
offsets are in UTF-16 code units, in which JavaScript counts.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, Self, cast

from pydantic import BaseModel

from sifaka.record.diff import Hunk, diff
from sifaka.record.provenance import Carried, explained_diff, issues_of, reasons_for
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought
from sifaka_mcp.schemas.verdicts import UsageOut

Base = Literal["input", "parent"]
_OPS = {"equal": "=", "insert": "+", "delete": "-", "replace": "~"}


class WhyView(BaseModel):
    """The issue behind a change or a mark, and where it comes from."""

    message: str
    source: str
    """The validator, the critic or `editor` that reported it; empty when it is not known."""
    category: str = ""
    rule: str | None = None
    severity: int = 0
    quote: str = ""
    fix: str | None = None
    usage: UsageOut | None = None
    """Usage of the whole opinion that it is part of; None where no model was asked."""

    @classmethod
    def of(cls, issue: Issue, sources: "Sources") -> Self:
        """The wire form of an issue."""
        source, feedback = sources.get(issue.message, ("", None))
        asked = feedback is not None and feedback.usage.model_calls > 0
        return cls(
            message=issue.message,
            source=source,
            category=issue.category,
            rule=issue.rule,
            severity=issue.severity,
            quote=issue.quote,
            fix=issue.fix,
            usage=UsageOut.of(feedback.usage) if feedback and asked else None,
        )


class ComparisonView(BaseModel):
    """The hunks that lead from another version to this one."""

    base: int
    hunks: list[tuple[str, int, int, int]]
    """The kind (`=`, `+`, `-`, `~`), the lengths before and after, the place in `whys` or -1."""


class MarkView(BaseModel):
    """An issue at its place in the text."""

    start: int
    end: int
    why: int


class VersionView(BaseModel):
    """One version with its text, its changes and the issues found in it."""

    run_id: str
    place: int
    text: str
    comparisons: dict[Base, ComparisonView]
    marks: list[MarkView]
    whys: list[WhyView]

    @classmethod
    def of(cls, run: Run, place: int) -> Self:
        """A version of a run by its place among the versions.

        Raises:
            IndexError: The run has no such version.
        """
        if place < 0:
            raise IndexError(place)
        thought = run.thoughts[place]
        whys = _Whys(run, thought)
        units = Units(thought.text)
        comparisons: dict[Base, ComparisonView] = {}
        if place > 0:
            hunks = explained_diff(run, thought, _carried(run.run_id, run.created_at))
            comparisons["input"] = ComparisonView(base=0, hunks=[*_lengths(hunks, whys)])
        parent = next((n for n, t in enumerate(run.thoughts) if t.id == thought.parent_id), 0)
        if place > 0 and parent > 0:
            before = run.thoughts[parent]
            hunks = diff(before.text, thought.text, reasons_for(before, thought))
            comparisons["parent"] = ComparisonView(base=parent, hunks=[*_lengths(hunks, whys)])
        return cls(
            run_id=run.run_id,
            place=place,
            text=thought.text,
            comparisons=comparisons,
            marks=[
                MarkView(start=units.at(i.start), end=units.at(i.end), why=whys.of_issue(i))
                for i in issues_of(thought)
                if i.start is not None and i.end is not None
            ],
            whys=whys.all,
        )


Sources = dict[str, tuple[str, CriticFeedback | None]]
"""By the message of an issue, its validator or critic, and what that said."""


def sources_of(thought: Thought | None) -> Sources:
    """The sources of the issues of a version."""
    found: Sources = {}
    for name, result in thought.validation_results.items() if thought else ():
        found |= {issue.message: (name, None) for issue in result.issues}
    for feedback in thought.critic_feedback if thought else ():
        found |= {issue.message: (feedback.critic, feedback) for issue in feedback.issues}
    return found


@lru_cache(maxsize=8)
def _carried(run_id: str, created_at: datetime) -> Carried:
    """The changes of a run that were worked out: pages ask for one version after the other."""
    del run_id, created_at
    return {}


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
        self._places: dict[str, int] = {}
        self.all: list[WhyView] = []

    def of_reason(self, reason: str | None) -> int:
        """The place of the issue with this message; -1 without one."""
        if reason is None:
            return -1
        return self.of_issue(self._issues.get(reason) or Issue(message=reason, severity=1))

    def of_issue(self, issue: Issue) -> int:
        """The place of an issue, to which it is added when it is new."""
        key = f"{issue.message}\0{issue.quote}"
        if key not in self._places:
            self._places[key] = len(self.all)
            self.all.append(WhyView.of(issue, self._sources))
        return self._places[key]


def _edits(thought: Thought) -> Sequence[Mapping[str, Any]]:
    logged = thought.metadata.get("edits", ()) if thought.author == EDITOR else ()
    return cast("Sequence[Mapping[str, Any]]", logged)


def _lengths(hunks: Iterable[Hunk], whys: _Whys) -> Iterator[tuple[str, int, int, int]]:
    for hunk in hunks:
        why = -1 if hunk.op == "equal" else whys.of_reason(hunk.reason)
        yield _OPS[hunk.op], _length(hunk.before), _length(hunk.after), why
