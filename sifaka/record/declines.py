"""Issues that a person has declined one by one, in one version and in those made of it."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sifaka.record.clustering import without
from sifaka.record.entries import Declined
from sifaka.record.results import Issue
from sifaka.record.thought import Thought

if TYPE_CHECKING:
    from sifaka.record.run import Run


def still_open(
    run: "Run", thought: Thought, groups: Sequence[Sequence[Issue]]
) -> list[list[Issue]]:
    """Groups of issues of a version, without those that a person has declined."""
    gone = [issue for entry in run.declined_issues if (issue := _placed(entry, thought))]
    return without(groups, gone) if gone else [list(group) for group in groups]


def decline_of(run: "Run", thought: Thought, issue: Issue) -> Declined | None:
    """The entry by which an issue of a version was declined; None when it was not."""
    for entry in run.declined_issues:
        gone = _placed(entry, thought)
        if gone is not None and without([[issue]], [gone]) == [[]]:
            return entry
    return None


def _placed(entry: Declined, thought: Thought) -> Issue | None:
    """The declined issue at the nearest place of the same words; None where they are gone."""
    issue = entry.issue
    if issue is None or thought.id == entry.thought_id:
        return issue
    if entry.thought_id not in {each.thought_id for each in thought.history}:
        return None
    if issue.start is None:
        return issue
    at = issue.start
    starts = [found.start() for found in re.finditer(re.escape(issue.quote), thought.text)]
    if not issue.quote or not starts:
        return None
    start = min(starts, key=lambda place: abs(place - at))
    return issue.model_copy(update={"start": start, "end": start + len(issue.quote)})
