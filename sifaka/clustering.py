"""Merging what several opinions report: the same issue in other words is one issue."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from sifaka.results import Issue

_OVERLAP = 0.5
"""Share of the shorter span that two issues about one place have in common."""
_ALIKE = 60.0
"""Percent of likeness from which messages about one place say the same."""
_ALIKE_UNANCHORED = 80.0
"""Percent of likeness that messages need when nothing shows what place they are about."""
_UNCATEGORISED = "general"
_CELL = 200
"""Characters: issues are looked for among those that begin or end not too far away."""
_WIDE = 20
"""Cells; an issue that covers more is compared with every other, and every other with it."""
_WIDE_ONES = "wide issues"


def cluster(groups: Sequence[Sequence[Issue]]) -> tuple[Issue, ...]:
    """The issues of several opinions, each reported once with the support it has.

    Two issues are one when their spans overlap and they have a category in common or messages that
    are alike; without spans, when they have the same category and messages much alike. Issues that
    only repeat each other within one group count once.

    Args:
        groups: The issues of each opinion.

    Returns:
        Those with a span in the order of the text, then the others as they came. `support` is how
        many opinions reported an issue; an issue that comes with support k counts k.
    """
    clusters: list[_Cluster] = []
    near: dict[object, dict[int, _Cluster]] = defaultdict(dict)
    for number, group in enumerate(groups):
        for issue in group:
            cells = _cells(issue)
            looked_up = [_WIDE_ONES, *cells] if issue.anchored else cells
            candidates = {at: found for cell in looked_up for at, found in near[cell].items()}
            if _WIDE_ONES in cells:
                candidates = dict(enumerate(clusters))
            likeness = [(candidates[at].likeness(issue, number), -at) for at in sorted(candidates)]
            score, where = max(likeness, default=(0.0, 0))
            if score <= 0:
                where = -len(clusters)
                clusters.append(_Cluster())
            clusters[-where].members.append((number, issue))
            for cell in cells:
                near[cell][-where] = clusters[-where]
    return tuple(sorted((found.merged() for found in clusters), key=_place))


def _cells(issue: Issue) -> Sequence[object]:
    """Where to look for issues that may be the same: only there is anything compared."""
    if not issue.anchored:
        return [issue.category.casefold()]
    start, end = _span(issue)
    cells = range(start // _CELL, end // _CELL + 1)
    return cells if len(cells) <= _WIDE else [_WIDE_ONES]


@dataclass(slots=True)
class _Cluster:
    members: list[tuple[int, Issue]] = field(default_factory=list[tuple[int, Issue]])
    """Each issue with the number of its group."""

    def likeness(self, issue: Issue, group: int) -> float:
        """How much the issue is like the least similar member; 0 when it does not belong here.

        Every member counts, so that an issue about a whole page does not draw those about its
        sentences together.
        """
        return min(
            _repetition(issue, other) if group == number else _likeness(issue, other)
            for number, other in self.members
        )

    def merged(self) -> Issue:
        issues = [issue for _, issue in self.members]
        gravest = max(issues, key=lambda issue: issue.severity)
        # A fix fits its own span only, so the place is that of the fix, and the smallest one.
        exact = min(issues, key=lambda issue: (issue.fix is None, _length(issue)))
        support: dict[int, int] = {}
        for group, issue in self.members:
            support[group] = max(support.get(group, 0), issue.support)
        return gravest.model_copy(
            update={
                "quote": exact.quote,
                "start": exact.start,
                "end": exact.end,
                "fix": exact.fix,
                "safe": exact.safe,
                "rule": gravest.rule or next((i.rule for i in issues if i.rule), None),
                "support": sum(support.values()),
            }
        )


def _likeness(one: Issue, other: Issue) -> float:
    """1 to 300 when two opinions mean the same by these, the more the surer; otherwise 0."""
    if one.anchored != other.anchored:
        return 0.0
    alike = _alike(one.message, other.message)
    category = one.category.casefold() == other.category.casefold()
    if not one.anchored:
        return alike if category and alike >= _ALIKE_UNANCHORED else 0.0
    overlap = _overlap(one, other)
    category = category and one.category.casefold() != _UNCATEGORISED
    if overlap < _OVERLAP or not (category or alike >= _ALIKE):
        return 0.0
    return 1 + alike + 100 * overlap + (99 if category else 0)


def _repetition(one: Issue, other: Issue) -> float:
    """As `_likeness` for two issues of one opinion.

    It means different things by them, unless the words are the same too.
    """
    from rapidfuzz.utils import default_process

    if default_process(one.message) != default_process(other.message):
        return 0.0
    return _likeness(one, other)


def _alike(one: str, other: str) -> float:
    from rapidfuzz import fuzz, utils

    return fuzz.token_set_ratio(one, other, processor=utils.default_process)


def _overlap(one: Issue, other: Issue) -> float:
    """The common part of two spans, as a share of the shorter one."""
    start, end = _span(one)
    other_start, other_end = _span(other)
    shorter = min(end - start, other_end - other_start)
    common = min(end, other_end) - max(start, other_start)
    if shorter == 0:  # a point, where something is missing
        return float(common >= 0)
    return max(0, common) / shorter


def _span(issue: Issue) -> tuple[int, int]:
    start = issue.start if issue.start is not None else 0
    return start, issue.end if issue.end is not None else start


def _length(issue: Issue) -> int:
    start, end = _span(issue)
    return end - start


def _place(issue: Issue) -> tuple[bool, int, int]:
    return (not issue.anchored, *_span(issue)) if issue.anchored else (True, 0, 0)
