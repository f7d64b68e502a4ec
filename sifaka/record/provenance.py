"""The changes over several versions, each with the issue that asked for it.

A diff of the two ends cannot name the issue: a change in the third step answers an issue of the
second version, whose words the first one never had. So each place that differs in the end is
followed back through the steps.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

from sifaka.record.diff import Hunk, Piece, diff, pieces_of, words_diff
from sifaka.record.results import Issue
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought

CHANGES = "changes"
"""The key in a version's metadata of the edits that its writer answered with, and why."""
_NEAR = 2
"""Characters between a change and a hunk that are still the same place: the space of a word that
was taken away may be the one before or the one after it."""


_MOST_PLACES = 1_000
"""Places in earlier versions that one place is followed back to: where much was taken away between
its words they double with every step."""


class _Stretch(NamedTuple):
    """A stretch of a version: the same as one of the version before, or what a step put there."""

    start: int
    end: int
    before: int
    """The offset of what stood there in the version before."""
    same: bool
    reason: str | None


class Steps:
    """What comparing the versions of one run has found: the words of lines that differ, once."""

    def __init__(self) -> None:
        self._hunks: dict[tuple[str, str], tuple[Hunk, ...]] = {}
        self._words: dict[tuple[str, str], tuple[Piece, ...]] = {}

    def between(self, before: Thought, after: Thought) -> tuple[Hunk, ...]:
        """The hunks of the step from one version to the next, each change with its reason."""
        step = before.id, after.id
        if step not in self._hunks:
            pieces = pieces_of(before.text, after.text, self.words)
            issues = reasons_for(before, after)
            self._hunks[step] = diff(before.text, after.text, issues, pieces)
        return self._hunks[step]

    def words(self, old: str, new: str) -> Sequence[Piece]:
        """What became of lines that differ: those of one step often do between its ends too."""
        if (old, new) not in self._words:
            self._words[old, new] = tuple(words_diff(old, new))
        return self._words[old, new]


def explained_diff(run: Run, thought: Thought, steps: Steps | None = None) -> tuple[Hunk, ...]:
    """The hunks that lead from a run's first version to one of its others.

    The reason of a hunk is the issue for which its words were written, in any of the steps; None
    when no issue asked for it.

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
    known = steps or Steps()
    way = [tuple(_stretches(known.between(before, after))) for before, after in pairwise(line)]
    pieces = pieces_of(original.text, thought.text, known.words)
    hunks = diff(original.text, thought.text, pieces=pieces)
    return tuple(
        hunk.model_copy(update={"reason": None if same else _reason(way, start, end)})
        for hunk, (start, end, _, same, _) in zip(hunks, _stretches(hunks), strict=True)
    )


def step_diff(before: Thought, after: Thought, steps: Steps | None = None) -> tuple[Hunk, ...]:
    """The hunks that lead from one version to the next.

    Args:
        before: The version before.
        after: The version made of it.
        steps: As for `explained_diff`, which looks into the same steps.
    """
    return (steps or Steps()).between(before, after)


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


def _stretches(hunks: Iterable[Hunk]) -> Iterator[_Stretch]:
    """The hunks at their places in the second text."""
    start = 0
    for hunk in hunks:
        end = start + len(hunk.after)
        yield _Stretch(start, end, hunk.start, hunk.op == "equal", hunk.reason)
        start = end


def _reason(way: Sequence[Sequence[_Stretch]], start: int, end: int) -> str | None:
    """The reason of the change that covers most of a place, the latest of several."""
    most, best = -_NEAR - 1, None
    for change_start, change_end, reason in _changes(way, start - _NEAR, end + _NEAR):
        common = min(change_end, end) - max(change_start, start)
        if reason is not None and common > most:
            most, best = common, reason
        if common == end - start:
            break
    return best


def _changes(
    way: Sequence[Sequence[_Stretch]], start: int, end: int
) -> Iterator[tuple[int, int, str | None]]:
    """What the steps have written at a place of the last version, the latest step first.

    What a later step has put something else in the place of is gone.
    """
    todo = deque([(len(way) - 1, start, end, 0)])
    seen = set(todo)
    while todo:
        step, start, end, shift = todo.popleft()
        for each in _touching(way[step], start, end):
            first, last = max(each.start, start), min(each.end, end)
            if each.same and step:
                back = each.start - each.before
                earlier = (step - 1, first - back, last - back, shift + back)
                if earlier not in seen and len(seen) < _MOST_PLACES:
                    seen.add(earlier)
                    todo.append(earlier)
            elif not each.same and (first < last or each.start == each.end):
                yield first + shift, last + shift, each.reason


def _touching(step: Sequence[_Stretch], start: int, end: int) -> Iterator[_Stretch]:
    """The stretches that touch a place of the version, in their order."""
    for at in range(bisect_left(step, start, key=lambda each: each.end), len(step)):
        if step[at].start > end:
            return
        yield step[at]
