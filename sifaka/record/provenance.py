"""The changes over several versions, each with the issue that asked for it.

A diff of the two ends cannot name the issue: a change in the third step answers an issue of the
second version, whose words the first one never had. So each place that differs in the end is
followed back through the steps, of which only the lines that lead to it are compared by words.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, cast

from sifaka.record.diff import Hunk, Piece, Reasons, diff, lines_diff, words_diff
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
    """The offset of what was there in the version before."""
    before_end: int
    same: bool
    reason: str | None = None


class Steps:
    """What comparing the versions of one run has found: the words of lines that differ, once."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, str], _Step] = {}
        self._words: dict[tuple[str, str], tuple[Piece, ...]] = {}

    def between(self, before: Thought, after: Thought) -> "_Step":
        """The step from one version to the next."""
        return self._steps.setdefault((before.id, after.id), _Step(before, after, self))

    def words(self, old: str, new: str) -> Sequence[Piece]:
        """What became of lines that differ: those of one step often do between its ends too."""
        if (old, new) not in self._words:
            self._words[old, new] = tuple(words_diff(old, new))
        return self._words[old, new]

    def pieces(self, before: str, after: str) -> Iterator[Piece]:
        """The pieces of two texts, for `diff`."""
        for op, old, new in lines_diff(before, after):
            if op == "replace":
                yield from self.words(old, new)
            else:
                yield op, old, new


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
    compared = steps or Steps()
    way = [compared.between(before, after) for before, after in pairwise(line)]
    pieces = compared.pieces(original.text, thought.text)
    return tuple(_add_reasons(diff(original.text, thought.text, pieces=pieces), way))


def step_diff(before: Thought, after: Thought, steps: Steps | None = None) -> tuple[Hunk, ...]:
    """The hunks that lead from one version to the next.

    Args:
        before: The version before.
        after: The version made of it.
        steps: As for `explained_diff`, which looks into the same steps.
    """
    return (steps or Steps()).between(before, after).hunks()


def reasons_for(before: Thought, after: Thought) -> list[Issue]:
    """The issues that the changes from one version to the next answer.

    They are the log of its writer, or what was found in the version before and is gone.
    """
    key = "edits" if after.author == EDITOR else CHANGES
    logged = cast("Sequence[Mapping[str, Any]]", after.metadata.get(key, ()))
    if not logged and after.author != EDITOR:
        left = {(issue.rule, issue.message, issue.quote) for issue in issues_of(after)}
        return [i for i in issues_of(before) if (i.rule, i.message, i.quote) not in left]
    return [
        Issue.at(before.text, e["start"], e["start"] + len(e["before"]), e["message"])
        for e in logged
        if "start" in e
    ]


def issues_of(thought: Thought) -> list[Issue]:
    """Everything that validators and critics have pointed at in a version."""
    reported = [i for r in thought.validation_results.values() for i in r.issues]
    return reported + [i for f in thought.critic_feedback for i in f.issues]


class _Step:
    """What one step has written: its lines are compared at once, their words when asked for."""

    def __init__(self, before: Thought, after: Thought, steps: Steps) -> None:
        self._before = before
        self._after = after
        self._steps = steps
        self._words: dict[int, Sequence[_Stretch]] = {}

    def hunks(self) -> tuple[Hunk, ...]:
        """All of the step, each change with its reason."""
        pieces = (piece for number in range(len(self._lines)) for piece in self._pieces_of(number))
        issues = reasons_for(self._before, self._after)
        return diff(self._before.text, self._after.text, issues, pieces)

    def at(self, start: int, end: int) -> Iterator[_Stretch]:
        """The stretches that touch a place of the version, in their order."""
        for number in range(bisect_left(self._ends, start), len(self._lines)):
            lines = self._lines[number]
            if lines.start > end:
                return
            for each in (lines,) if lines.same else self._words_of(number):
                if each.start <= end and start <= each.end:
                    yield each

    @cached_property
    def _lines(self) -> Sequence[_Stretch]:
        pieces = lines_diff(self._before.text, self._after.text)
        return tuple(_place_pieces((op == "equal", old, new) for op, old, new in pieces))

    @cached_property
    def _ends(self) -> Sequence[int]:
        return [lines.end for lines in self._lines]

    @cached_property
    def _reasons(self) -> Reasons:
        return Reasons(reasons_for(self._before, self._after))

    def _words_of(self, number: int) -> Sequence[_Stretch]:
        """The stretches in lines that differ."""
        if number not in self._words:
            lines = self._lines[number]
            old, new = self._texts_of(number)
            hunks = diff(old, new, pieces=self._pieces_of(number))
            pieces = ((hunk.op == "equal", hunk.before, hunk.after) for hunk in hunks)
            self._words[number] = [
                each if each.same else each._replace(reason=self._reasons.of(*each[2:4]))
                for each in _place_pieces(pieces, lines.start, lines.before)
            ]
        return self._words[number]

    def _pieces_of(self, number: int) -> Sequence[Piece]:
        """Lines that are the same, or what differs in them."""
        old, new = self._texts_of(number)
        return (("equal", old, new),) if self._lines[number].same else self._steps.words(old, new)

    def _texts_of(self, number: int) -> tuple[str, str]:
        lines = self._lines[number]
        old = self._before.text[lines.before : lines.before_end]
        return old, self._after.text[lines.start : lines.end]


def _place_pieces(
    pieces: Iterable[tuple[bool, str, str]], start: int = 0, before: int = 0
) -> Iterator[_Stretch]:
    """Pieces of two versions, each same or not, at their places."""
    for same, old, new in pieces:
        end, before_end = start + len(new), before + len(old)
        yield _Stretch(start, end, before, before_end, same)
        start, before = end, before_end


def _add_reasons(hunks: Iterable[Hunk], way: Sequence[_Step]) -> Iterator[Hunk]:
    at = 0
    for hunk in hunks:
        end = at + len(hunk.after)
        reason = None if hunk.op == "equal" else _find_reason(way, at, end)
        yield hunk.model_copy(update={"reason": reason})
        at = end


def _find_reason(way: Sequence[_Step], start: int, end: int) -> str | None:
    """The reason of the change that covers most of a place, the latest of several."""
    most, best = -_NEAR - 1, None
    for change_start, change_end, reason in _trace(way, start - _NEAR, end + _NEAR):
        common = min(change_end, end) - max(change_start, start)
        if reason is not None and common > most:
            most, best = common, reason
        if common == end - start:
            break
    return best


def _trace(way: Sequence[_Step], start: int, end: int) -> Iterator[tuple[int, int, str | None]]:
    """What the steps have written at a place of the last version, the latest step first.

    What a later step has put something else in the place of is gone.
    """
    todo = deque([(len(way) - 1, start, end, 0)])
    seen = set(todo)
    while todo:
        step, start, end, shift = todo.popleft()
        for each in way[step].at(start, end):
            first, last = max(each.start, start), min(each.end, end)
            if each.same and step:
                back = each.start - each.before
                earlier = (step - 1, first - back, last - back, shift + back)
                if earlier not in seen and len(seen) < _MOST_PLACES:
                    seen.add(earlier)
                    todo.append(earlier)
            elif not each.same and (first < last or each.start == each.end):
                yield first + shift, last + shift, each.reason
