"""The changes over several versions, each with the issue that asked for it.

A diff of the two ends cannot name the issue: a change in the third step answers an issue of the
second version, whose words the first one never had. So what each step has written is carried on to
where it stands in the end.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

from sifaka.record.diff import Hunk, diff
from sifaka.record.results import Issue
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought

CHANGES = "changes"
"""The key in a version's metadata of the edits that its writer answered with, and why."""
_NEAR = 2
"""Characters between a change and a hunk that are still the same place: the space of a word that
was taken away may be the one before or the one after it."""

Steps = dict[tuple[str, str], tuple[Hunk, ...]]
"""The hunks of the steps of a run that were compared already, by the ids of the two versions."""


class _Written(NamedTuple):
    """A stretch of a version that a step has written; an empty one where it took words away."""

    start: int
    end: int
    step: int
    reason: str | None


def explained_diff(run: Run, thought: Thought, steps: Steps | None = None) -> tuple[Hunk, ...]:
    """The hunks that lead from a run's first version to one of its others.

    The reason of a hunk is the issue for which most of its words were written, in any of the steps,
    the latest of several; None when no issue asked for it.

    Args:
        run: The run.
        thought: The version.
        steps: What earlier calls for the run have compared; each adds to it.
    """
    original = run.original
    if original is None or original.id == thought.id:
        return ()
    line = [*(run.thought(each.thought_id) for each in thought.history), thought]
    if len(line) == 2 or line[0].id != original.id:
        return diff(original.text, thought.text, reasons_for(original, thought))
    known = {} if steps is None else steps
    written: list[_Written] = []
    for number, (before, after) in enumerate(pairwise(line)):
        written = _carried(written, step_diff(before, after, known), number)
    return tuple(
        _explained(diff(original.text, thought.text), sorted(written, key=lambda each: each[:3]))
    )


def step_diff(before: Thought, after: Thought, steps: Steps | None = None) -> tuple[Hunk, ...]:
    """The hunks that lead from one version to the next.

    Args:
        before: The version before.
        after: The version made of it.
        steps: As for `explained_diff`, which looks into the same steps.
    """
    known, step = {} if steps is None else steps, (before.id, after.id)
    if step not in known:
        known[step] = diff(before.text, after.text, reasons_for(before, after))
    return known[step]


def reasons_for(before: Thought, after: Thought) -> list[Issue]:
    """The issues that the changes from one version to the next answer.

    They are the log of its writer, or what was found in the version before and is gone.
    """
    key = "edits" if after.author == EDITOR else CHANGES
    logged = cast("Sequence[Mapping[str, Any]]", after.metadata.get(key, ()))
    if not logged and after.author != EDITOR:
        left = {(issue.rule, issue.message, issue.quote) for issue in issues_of(after)}
        found = issues_of(before)
        return [each for each in found if (each.rule, each.message, each.quote) not in left]
    return [
        Issue.at(before.text, e["start"], e["start"] + len(e["before"]), e["message"])
        for e in logged
        if "start" in e
    ]


def issues_of(thought: Thought) -> list[Issue]:
    """Everything that validators and critics have pointed at in a version."""
    found = [i for r in thought.validation_results.values() for i in r.issues]
    return found + [i for f in thought.critic_feedback for i in f.issues]


def _carried(written: Sequence[_Written], hunks: Sequence[Hunk], step: int) -> list[_Written]:
    """What the steps so far have written, where it stands after one more, and what that one has.

    What it has put something else in the place of is gone, so no two stretches overlap.
    """
    kept: list[tuple[int, int, int]] = []
    new: list[_Written] = []
    at = 0
    for hunk in hunks:
        end = at + len(hunk.after)
        if hunk.op == "equal":
            kept.append((hunk.start, hunk.start + len(hunk.before), at - hunk.start))
        else:
            new.append(_Written(at, end, step, hunk.reason))
        at = end
    for each in written:
        first = bisect_left(kept, each.start, key=lambda stretch: stretch[1])
        last = bisect_right(kept, each.end, key=lambda stretch: stretch[0])
        for start, end, shift in kept[first:last]:
            place = max(start, each.start) + shift, min(end, each.end) + shift
            if place[0] < place[1] or each.start == each.end:
                new.append(_Written(*place, each.step, each.reason))
    return list(dict.fromkeys(new))


def _explained(hunks: Sequence[Hunk], written: Sequence[_Written]) -> Iterator[Hunk]:
    """The hunks, each change with the reason for which most of it was written."""
    at = 0
    for hunk in hunks:
        start, at = at, at + len(hunk.after)
        if hunk.op == "equal":
            yield hunk
            continue
        first = bisect_left(written, start - _NEAR, key=lambda each: each.end)
        last = bisect_right(written, at + _NEAR, key=lambda each: each.start)
        reasons = [
            (min(each.end, at) - max(each.start, start), each.step, each.reason)
            for each in written[first:last]
            if each.reason is not None
        ]
        yield hunk.model_copy(update={"reason": max(reasons)[2]}) if reasons else hunk
