"""The feedback on a long text, routed to its sections."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.sections import Section, labelled, overlapping

_IN_ONE_PLACE = frozenset({"content", "pattern", "preserve"})
"""Categories of issues without a place that are mended once: something is missing."""
_SHORTEST_TITLE = 4
"""Characters of a title that a remark can be taken to name."""


@dataclass(frozen=True, slots=True)
class SectionFeedback:
    """The feedback on one section, with offsets into the section."""

    results: Mapping[str, ValidationResult] = field(default_factory=dict[str, ValidationResult])
    """Failed validators that concern it."""
    feedback: tuple[CriticFeedback, ...] = ()

    @property
    def issues(self) -> list[Issue]:
        """All issues in it."""
        found = [issue for result in self.results.values() for issue in result.issues]
        return found + [issue for each in self.feedback for issue in each.issues]

    def __bool__(self) -> bool:
        return bool(self.results or self.feedback)


def feedback_by_section(
    thought: Thought, sections: Sequence[Section]
) -> tuple[SectionFeedback, ...]:
    """The feedback of failed validators and critics on each section of a thought's text.

    An issue with a place belongs to the sections that the place touches. Any other remark belongs
    to the section that its label, its quote or a title in it names; when it names none, a remark
    on something that is missing belongs to the section that has most words in common with it, and
    any other to all sections.
    """
    router = _Router(sections)
    results: list[dict[str, ValidationResult]] = [{} for _ in sections]
    heard: list[list[CriticFeedback]] = [[] for _ in sections]
    for name, result in thought.validation_results.items():
        if result.passed:
            continue
        placed = router.issues(result.issues)
        concerned = sorted(placed) if result.issues else range(len(sections))
        # A suggestion for one section would be followed as often as it is given.
        suggestions = result.suggestions if len(concerned) == 1 or not result.issues else ()
        for at in concerned:
            changes = {"issues": tuple(placed[at]), "suggestions": suggestions}
            results[at][name] = result.model_copy(update=changes)
    for said in thought.critic_feedback:
        if said.status != "ok":
            continue
        placed = router.issues(said.issues)
        suggested = router.suggestions(said.suggestions, placed)
        for at in sorted(placed.keys() | suggested.keys()):
            changes = {"issues": tuple(placed[at]), "suggestions": tuple(suggested[at])}
            heard[at].append(said.model_copy(update=changes))
    return tuple(SectionFeedback(of, tuple(said)) for of, said in zip(results, heard, strict=True))


def concerned(
    thought: Thought, sections: Sequence[Section], said: Sequence[SectionFeedback]
) -> tuple[bool, ...]:
    """For each section, true when it is to be written again.

    One that something was said about is. Where critics have weighed the text against its task the
    others are not: they meet it. Where none has, or what they said names no section, the task
    concerns the sections whose titles it names, or else all.
    """
    about = [bool(each) for each in said]
    spoke = [each for each in thought.critic_feedback if each.status == "ok"]
    judged = bool(thought.prompt) and any(each.judges_task for each in spoke)
    wanted = bool(thought.prompt) or any(each.verdict == "revise" for each in spoke)
    if (judged and any(about)) or not wanted or (not thought.prompt and any(about)):
        task = [False] * len(sections)
    else:
        named = _Router(sections).named(thought.prompt, in_task=True)
        task = [not named or at in named for at in range(len(sections))]
    return tuple(
        (told or by_task) and bool(section.text.strip()) and not section.literal
        for told, by_task, section in zip(about, task, sections, strict=True)
    )


class _Router:
    """Finds the sections that remarks are about; they go by their numbers from 0 here."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sections
        self._titles: defaultdict[str, set[int]] = defaultdict(set)
        for at, section in enumerate(sections):
            for title in {section.title, *(heading.title for heading in section.headings)}:
                if len(title) >= _SHORTEST_TITLE:
                    self._titles[title.casefold()].add(at)
        self._words: list[frozenset[str]] | None = None

    def issues(self, issues: Iterable[Issue]) -> defaultdict[int, list[Issue]]:
        """The issues of each section, as they are about its own text."""
        placed: defaultdict[int, list[Issue]] = defaultdict(list)
        for issue in issues:
            if issue.start is not None and issue.end is not None:
                for section in overlapping(self._sections, issue.start, issue.end):
                    placed[section.number - 1].append(_inside(issue, section))
                continue
            number, message = labelled(issue.message)
            unlabelled = issue.model_copy(update={"message": message})
            for at in self._about(issue, number):
                placed[at].append(unlabelled)
        return placed

    def suggestions(
        self, suggestions: Iterable[str], issues: Mapping[int, Sequence[Issue]]
    ) -> defaultdict[int, list[str]]:
        """The suggestions for each section; one that repeats an issue goes where that went."""
        messages: defaultdict[str, list[int]] = defaultdict(list)
        for at, own in issues.items():
            for message in {issue.message for issue in own}:
                messages[message].append(at)
        placed: defaultdict[int, list[str]] = defaultdict(list)
        for suggestion in suggestions:
            number, words = labelled(suggestion)
            labelled_at = self._at(number)
            named = [labelled_at] if labelled_at is not None else messages.get(words)
            for at in named or self.named(words) or range(len(self._sections)):
                placed[at].append(words)
        return placed

    def named(self, remark: str, *, in_task: bool = False) -> frozenset[int]:
        """The sections whose titles a remark names: in quotation marks, or as sections.

        Args:
            remark: The remark.
            in_task: True for a task, which may also name a title of several words plainly.
        """
        flat = " ".join(remark.casefold().split())
        found: set[int] = set()
        for title, places in self._titles.items():
            if title in flat and (
                any(f"{a}{title}{b}" in flat for a, b in ('""', "“”", "''", "‘’", "«»", "``"))
                or any(f"{kind} {title}" in flat for kind in ("section", "chapter", "part"))
                or any(f"{title} {kind}" in flat for kind in ("section", "chapter"))
                or (in_task and " " in title and len(title.split()) > 2)
            ):
                found |= places
        return frozenset(found)

    def _about(self, issue: Issue, number: int | None) -> Iterable[int]:
        labelled_at = self._at(number)
        if labelled_at is not None:
            return (labelled_at,)
        if issue.quote:
            quoted = [at for at, s in enumerate(self._sections) if issue.quote in s.text]
            if quoted:
                return quoted[:1]
        if named := self.named(issue.message):
            return sorted(named)
        if issue.category in _IN_ONE_PLACE:
            return (self._nearest(issue.message),)
        return range(len(self._sections))

    def _at(self, number: int | None) -> int | None:
        return number - 1 if number is not None and 0 < number <= len(self._sections) else None

    def _nearest(self, message: str) -> int:
        """The section with most words of a message; of equal ones the last."""
        if self._words is None:
            self._words = [frozenset(s.text.casefold().split()) for s in self._sections]
        wanted = {word.strip(".,;:!?'\"“”()") for word in message.casefold().split()}
        shares = [len(wanted & words) for words in self._words]
        writable = [at for at, section in enumerate(self._sections) if not section.literal]
        return max(writable or range(len(shares)), key=lambda at: (shares[at], at))


def _inside(issue: Issue, section: Section) -> Issue:
    """An issue as it is about the part of its place that lies in a section."""
    start, end = issue.start or 0, issue.end or 0
    if section.start <= start and end <= section.end:
        own = {"start": start - section.start, "end": end - section.start}
        return issue.model_copy(update=own)
    first, last = max(start, section.start), min(end, section.end)
    return Issue.at(
        section.text,
        first - section.start,
        max(first, last) - section.start,
        issue.message,
        category=issue.category,
        severity=issue.severity,
        rule=issue.rule,
        support=issue.support,
    )
