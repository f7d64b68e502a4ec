"""The changes over several versions, each with the issue that asked for it.

A diff of the two ends cannot name the issue: a change in the third step answers an issue of the
second version, whose words the first one never had. So the changes of each step are carried
through the diffs of the later steps to their place in the last version.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from sifaka.record.diff import Hunk, diff
from sifaka.record.results import Issue
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought

_NEAR = 2
"""Characters between a change and a hunk that are still the same place: the space of a word that
was taken away may be the one before or the one after it."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A stretch of the current version that a step has written, empty where it took words away."""

    start: int
    end: int
    reason: str | None


Carried = dict[str, "Sequence[_Change]"]
"""By version, the changes of all steps to it, at their places in it."""


def explained_diff(run: Run, thought: Thought, carried: Carried | None = None) -> tuple[Hunk, ...]:
    """The hunks that lead from a run's first version to one of its others.

    The reason of a hunk is the issue for which its words were written, in any of the steps; None
    when no issue asked for it.

    Args:
        run: The run.
        thought: The version.
        carried: What earlier calls for the run have worked out; each adds to it.
    """
    original = run.original
    if original is None or original.id == thought.id:
        return ()
    line = [*(run.thought(each.thought_id) for each in thought.history), thought]
    if len(line) == 2 or line[0].id != original.id:
        return diff(original.text, thought.text, reasons_for(original, thought))
    known: Carried = {} if carried is None else carried
    changes: Sequence[_Change] = ()
    for before, after in pairwise(line):
        if after.id not in known:
            hunks = diff(before.text, after.text, reasons_for(before, after))
            together = (*_carried(changes, hunks), *_made(hunks))
            known[after.id] = sorted(together, key=lambda change: change.start)
        changes = known[after.id]
    return tuple(_explained(diff(original.text, thought.text), changes))


def reasons_for(before: Thought, after: Thought) -> list[Issue]:
    """The issues that the changes from one version to the next may answer.

    They are those of the version before, and the log of the editor.
    """
    logged = after.metadata.get("edits", ()) if after.author == EDITOR else ()
    edits = [e for e in cast("Sequence[Mapping[str, Any]]", logged) if "start" in e]
    return issues_of(before) + [
        Issue.at(before.text, e["start"], e["start"] + len(e["before"]), e["message"])
        for e in edits
    ]


def issues_of(thought: Thought) -> list[Issue]:
    """Everything that validators and critics have pointed at in a version."""
    found = [i for r in thought.validation_results.values() for i in r.issues]
    return found + [i for f in thought.critic_feedback for i in f.issues]


def _made(hunks: Iterable[Hunk]) -> Iterator[_Change]:
    """The changes of one step, at their places in the version it made."""
    at = 0
    for hunk in hunks:
        end = at + len(hunk.after)
        if hunk.op != "equal":
            yield _Change(at, end, hunk.reason)
        at = end


def _carried(changes: Sequence[_Change], hunks: Iterable[Hunk]) -> Iterator[_Change]:
    """Earlier changes at their places in the next version; what was replaced since is gone."""
    starts = [change.start for change in changes]
    at = 0
    for hunk in hunks:
        if hunk.op == "equal":
            old_end, shift = hunk.start + len(hunk.before), at - hunk.start
            first = max(0, bisect_left(starts, hunk.start) - 1)
            for change in changes[first:]:
                if change.start > old_end:
                    break
                start, end = max(change.start, hunk.start), min(change.end, old_end)
                if start < end or (start == end and change.start == change.end):
                    yield _Change(start + shift, end + shift, change.reason)
        at += len(hunk.after)


def _explained(hunks: Iterable[Hunk], changes: Sequence[_Change]) -> Iterator[Hunk]:
    starts = [change.start for change in changes]
    at = 0
    for hunk in hunks:
        end = at + len(hunk.after)
        if hunk.op == "equal":
            yield hunk
        else:
            yield hunk.model_copy(update={"reason": _reason(changes, starts, at, end)})
        at = end


def _reason(changes: Sequence[_Change], starts: Sequence[int], start: int, end: int) -> str | None:
    """The reason of the change that covers most of a place, of those that have one."""
    first = max(0, bisect_left(starts, start - _NEAR) - 1)
    best: tuple[int, str] | None = None
    for change in changes[first:]:
        if change.start > end + _NEAR:
            break
        common = min(change.end, end) - max(change.start, start)
        if change.reason is not None and common >= -_NEAR and (best is None or common > best[0]):
            best = common, change.reason
    return best[1] if best else None
