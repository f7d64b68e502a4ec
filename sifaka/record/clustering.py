"""Issues of several opinions: one in other words is the same, and a declined one is none."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sifaka.record.entries import Declined
from sifaka.record.results import Issue
from sifaka.record.thought import Thought

if TYPE_CHECKING:
    from sifaka.record.run import Run

_OVERLAP = 0.5
"""Share of the shorter span that two issues about one place have in common."""
_ONE_PLACE = 0.4
"""Share of all that two spans cover which is in both, from which they are one place."""
_LONGEST_PLACE = 120
"""Characters up to which a stretch is one place; more of them may have several faults."""
_ALIKE = 60.0
"""Percent of likeness from which messages about one place say the same."""
_ALIKE_UNANCHORED = 80.0
"""Percent of likeness that messages need when nothing shows what place they are about."""
_STRETCH = 200
"""Characters of the text by which those that may touch one another are looked up."""
_UNCATEGORISED = "general"
_MOST_COMPARISONS = 100_000
"""Of issues that share a stretch or a category: the time grows with their number."""


def cluster(groups: Sequence[Sequence[Issue]]) -> tuple[Issue, ...]:
    """The issues of several opinions, each reported once with the support it has.

    Two issues are one when their spans are the same place, or overlap and they have a category in
    common or messages that are alike; without spans, when they have the same category and messages
    much alike. Issues that only repeat each other within one group count once. Of very
    many about one place, or of one category, only the gravest are compared, and the others stay as
    they are.

    Args:
        groups: The issues of each opinion.

    Returns:
        Those with a span in the order of the text, then the others as they came. `support` is how
        many opinions reported an issue; an issue that comes with support k counts k.
    """
    reports = [_Report(n, issue) for n, group in enumerate(groups) for issue in group]
    crowds: Counter[object] = Counter()
    left = _MOST_COMPARISONS
    for report in sorted(reports, key=lambda each: -each.issue.severity):
        crowds.update(report.keys)
        left -= sum(crowds[key] for key in report.keys)
        report.compared = left >= 0
    alike = _group_reports(report for report in reports if report.compared)
    merged = (joined([(r.group, r.issue) for r in same]) for same in alike)
    rest = (report.issue for report in reports if not report.compared)
    return tuple(sorted((*merged, *rest), key=_sort_key))


def without(groups: Sequence[Sequence[Issue]], gone: Sequence[Issue]) -> list[list[Issue]]:
    """The groups without the issues that say the same as one of `gone`, in whatever words."""
    known = [_Report(-1, issue) for issue in gone]
    return [
        [issue for issue in group if not any(_compare(_Report(n, issue), known, range(len(known))))]
        for n, group in enumerate(groups)
    ]


def joined(members: Sequence[tuple[int, Issue]]) -> Issue:
    """The one issue that several are, each given with the number of its opinion.

    The words are those of the gravest. `support` is how many opinions reported it.
    """
    issues = [issue for _, issue in members]
    if len(issues) == 1:
        return issues[0]
    gravest = max(issues, key=lambda issue: issue.severity)
    # A fix fits its own span only, so the place is that of the fix, and the smallest one.
    exact = min(issues, key=lambda issue: (not issue.anchored, issue.fix is None, _length(issue)))
    support: dict[int, int] = {}
    for opinion, issue in members:
        support[opinion] = max(support.get(opinion, 0), issue.support)
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


class _Report:
    """An issue with what it is compared by, worked out once."""

    __slots__ = (
        "anchored",
        "category",
        "compared",
        "end",
        "group",
        "issue",
        "keys",
        "start",
        "text",
    )

    def __init__(self, group: int, issue: Issue) -> None:
        from rapidfuzz.utils import default_process

        self.group = group
        """The number of the opinion it is part of."""
        self.issue = issue
        self.anchored = issue.anchored
        self.category = issue.category.casefold()
        self.text = default_process(issue.message)
        self.start, self.end = _span(issue)
        stretches = range(self.start // _STRETCH, self.end // _STRETCH + 1)
        self.keys: Sequence[object] = stretches if self.anchored else (self.category,)
        """Those that share none are not about the same."""
        self.compared = True
        """False where there are too many to compare this one too."""


def _group_reports(reports: Iterable[_Report]) -> Iterable[Sequence[_Report]]:
    """Each report put to those it is most like, if there are any.

    It must be like every one of them, so that an issue about a whole page does not draw those
    about its sentences together.
    """
    clusters: list[list[_Report]] = []
    seen: list[_Report] = []
    home: list[int] = []
    """The cluster of each one seen."""
    around: dict[object, list[int]] = defaultdict(list)
    for report in reports:
        scores: dict[int, list[float]] = {}
        among = sorted({at for key in report.keys for at in around[key]})
        for at, score in _compare(report, seen, among):
            scores.setdefault(home[at], []).append(score)
        for key in report.keys:
            around[key].append(len(seen))
        fitting = [(min(s), -at) for at, s in scores.items() if len(s) == len(clusters[at])]
        _, where = max(fitting, default=(0.0, -len(clusters)))
        if -where == len(clusters):
            clusters.append([])
        clusters[-where].append(report)
        seen.append(report)
        home.append(-where)
    return clusters


def _compare(
    report: _Report, seen: Sequence[_Report], among: Iterable[int]
) -> Iterable[tuple[int, float]]:
    """The reports that mean the same, each with a certainty above 0 and up to 300."""
    from rapidfuzz import fuzz, process

    shares = dict(_find_near(report, seen, among))
    if not shares:
        return
    places = list(shares)
    scored = process.extract(
        report.text,
        [seen[at].text for at in places],
        scorer=fuzz.token_set_ratio,
        processor=None,
        score_cutoff=None if report.anchored else _ALIKE_UNANCHORED,
        limit=None,
    )
    categorised = report.category != _UNCATEGORISED
    for _, alike, number in scored:
        at = places[number]
        if not report.anchored:
            yield at, alike
            continue
        category = categorised and seen[at].category == report.category
        if category or alike >= _ALIKE or _is_one_place(report, seen[at]):
            yield at, 1 + alike + 100 * shares[at] + (99 if category else 0)


def _find_near(
    report: _Report, seen: Sequence[_Report], among: Iterable[int]
) -> Iterable[tuple[int, float]]:
    """Those that may mean the same by their place or category, with the share they overlap.

    One opinion means different things by two issues, unless the words are the same too.
    """
    for at in among:
        other = seen[at]
        if not report.anchored:
            near, share = not other.anchored and other.category == report.category, 0.0
        else:
            near = other.start <= report.end and report.start <= other.end and other.anchored
            share = _measure_overlap(report, other) if near else 0.0
            near = share >= _OVERLAP
        if near and (other.group != report.group or other.text == report.text):
            yield at, share


def _measure_overlap(one: _Report, other: _Report) -> float:
    """The common part of two spans, as a share of the shorter one."""
    shorter = min(one.end - one.start, other.end - other.start)
    common = min(one.end, other.end) - max(one.start, other.start)
    if shorter == 0:  # a point, where something is missing
        return float(common >= 0)
    return max(0, common) / shorter


def _is_one_place(one: _Report, other: _Report) -> bool:
    """True when two spans are one place: a word more or less at an end makes no other."""
    common = min(one.end, other.end) - max(one.start, other.start)
    both = max(one.end, other.end) - min(one.start, other.start)
    return both <= _LONGEST_PLACE and common >= _ONE_PLACE * both


def _span(issue: Issue) -> tuple[int, int]:
    start = issue.start if issue.start is not None else 0
    return start, issue.end if issue.end is not None else start


def _length(issue: Issue) -> int:
    start, end = _span(issue)
    return end - start


def _sort_key(issue: Issue) -> tuple[bool, int, int]:
    return (not issue.anchored, *_span(issue)) if issue.anchored else (True, 0, 0)


def still_open(
    run: "Run", thought: Thought, groups: Sequence[Sequence[Issue]]
) -> list[list[Issue]]:
    """Groups of issues of a version, without those that a person has declined."""
    gone = [issue for entry in run.declined_issues if (issue := _place_declined(entry, thought))]
    return without(groups, gone) if gone else [list(group) for group in groups]


def decline_of(run: "Run", thought: Thought, issue: Issue) -> Declined | None:
    """The entry by which an issue of a version was declined; None when it was not."""
    for entry in run.declined_issues:
        gone = _place_declined(entry, thought)
        if gone is not None and without([[issue]], [gone]) == [[]]:
            return entry
    return None


def _place_declined(entry: Declined, thought: Thought) -> Issue | None:
    """The declined issue at the nearest place of the same words; None where they are gone."""
    issue = entry.issue
    if issue is None or thought.id == entry.thought_id:
        return issue
    if entry.thought_id not in {each.thought_id for each in thought.history}:
        return None
    if issue.start is None:
        return issue
    at = issue.start
    starts = [match.start() for match in re.finditer(re.escape(issue.quote), thought.text)]
    if not issue.quote or not starts:
        return None
    start = min(starts, key=lambda place: abs(place - at))
    return issue.model_copy(update={"start": start, "end": start + len(issue.quote)})
