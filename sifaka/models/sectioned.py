"""A writer that works on a long text section by section."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from itertools import islice
from typing import Any, Literal

import anyio

from sifaka.calls.context import PARALLEL, current_calls, fan_out
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models import Generation, Model
from sifaka.models.prompt import thought_of
from sifaka.models.writing import Attempt, UnfitDraft, attempt, generate_version
from sifaka.record.provenance import issues_of
from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.text.markdown import Markdown, open_fence
from sifaka.text.sections import Section, labelled, overlapping, shared_terms, split
from sifaka.validators.preserve import lost_spans

Status = Literal["improved", "kept", "untouched", "failed"]
_UNREPEATED = frozenset({"calls", "seconds"})
"""Limits of a budget that leave no more room when calls under way have ended."""
_IN_ONE_PLACE = frozenset({"content", "pattern", "preserve"})
"""Categories of issues without a place that are mended once: something is missing."""
_SHORTEST_TITLE = 4
"""Characters of a title that a remark can be taken to name."""
_NEARBY = 40
"""Characters around a span in an issue's quote up to which the issue is about that span."""
_MARKS = " \t#*_=-"
_BARE = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The outcome for one section."""

    text: str
    status: Status
    reason: str = ""


async def write_text(
    writer: Model,
    thought: Thought,
    *,
    section_chars: int | None,
    protect: bool = True,
    calls: float = math.inf,
) -> Generation:
    """The next version; that of a long text is written section by section, at the same time.

    A text of up to `section_chars` characters, and one that there is not yet, is written as a
    whole. Of a longer one each section that feedback or the task concerns is written by itself:
    with the outline of the document and the terms that its sections share. The others stay as they
    are, byte by byte. So does one whose new text lacks what is protected, brings other sections
    along or is empty, and one that failed or that the budget has no room for.

    Args:
        writer: Writes the text, or each section.
        thought: The version before.
        section_chars: Characters beyond which a text is worked on in sections, each of at most half
            as many, so that one comes back whole from a model whose answers are short; never when
            None.
        protect: True when code, numbers, quotes, links and names must survive where there is no
            task.
        calls: The model calls that sections may take, retries not counted.

    Returns:
        The version. Where it was written in sections its metadata has `sections`, what has become
        of each, and `degraded`, a line for each that failed and one for those that the budget had
        no room for.

    Raises:
        ModelProviderError: Nothing could be written.
        BudgetExceeded: There was room for no section.
    """
    if not (sections := _split_sections(thought, section_chars)):
        return await generate_version(writer, thought)
    parts = _divide_feedback(thought, sections)
    wanted = enumerate(_find_concerned(thought, sections, parts))
    thoughts = {at: parts[at] for at, is_wanted in wanted if is_wanted}
    answers = await _write_sections(writer, sections, thoughts, calls)
    errors = [each for each in answers.values() if not isinstance(each, Generation)]
    if errors and not any(isinstance(a, Generation | UnfitDraft) for a in answers.values()):
        # A provider's before a limit.
        raise next((each for each in errors if isinstance(each, ModelProviderError)), errors[0])
    outcomes = [_Outcome(section.text, "untouched") for section in sections]
    is_protected = protect and not thought.prompt
    for at, answer in answers.items():
        outcomes[at] = _judge_section(sections, at, answer, thoughts[at], protect=is_protected)
    return _join_sections(sections, outcomes, list(answers.values()))


def calls_for(thought: Thought, section_chars: int | None) -> int:
    """The model calls that the next version takes at least, when it is written in full."""
    if not (sections := _split_sections(thought, section_chars)):
        return 1
    return max(1, sum(_find_concerned(thought, sections, _divide_feedback(thought, sections))))


def _split_sections(thought: Thought, section_chars: int | None) -> Sequence[Section]:
    """The sections that a text is written in; none for one that is written as a whole."""
    if section_chars is None or len(thought.text) <= section_chars or not current_calls().mends:
        return ()  # or one that is on record as a whole
    return split(thought.text, section_chars // 2)


async def _write_sections(
    writer: Model, sections: Sequence[Section], thoughts: Mapping[int, Thought], calls: float
) -> Mapping[int, Attempt]:
    """The answer for each section that is to be written, by its place among all."""
    answers: dict[int, Attempt] = {}
    open_ = list(thoughts)
    # The run's own bounds only models that are metered.
    write = partial(_write_within, anyio.Semaphore(PARALLEL))
    while open_:
        room = calls - len(thoughts) + len(open_)
        now = [at for n, at in enumerate(open_, 1) if n <= room]
        answers |= {at: BudgetExceeded("calls") for at in open_[len(now) :]}
        branches: dict[str, Callable[[], Any]] = {
            _journal_key(sections[at]): partial(attempt, writer, thoughts[at], write) for at in now
        }
        came = dict(zip(now, await fan_out(branches, calls_each=0), strict=True))
        answers |= came
        # What was set aside for the others is free when they have ended, and may be enough.
        late = [
            at
            for at, each in came.items()
            if isinstance(each, BudgetExceeded) and each.limit not in _UNREPEATED
        ]
        open_ = late if len(late) < len(now) else []
    return {at: answers[at] for at in thoughts}


async def _write_within(limiter: anyio.Semaphore, writer: Model, thought: Thought) -> Generation:
    async with limiter:
        with current_calls().set_aside(1):
            return await generate_version(writer, thought)


def _journal_key(section: Section) -> str:
    """The name of a section's place in the journal, the same for the same section."""
    digest = sha256(section.text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"section {section.number} {digest[:8]}"


def _judge_section(
    sections: Sequence[Section], at: int, answer: Attempt, thought: Thought, *, protect: bool
) -> _Outcome:
    """What becomes of a section: its new text, or the old one and the reason."""
    section = sections[at]
    if not isinstance(answer, Generation):
        is_unfit = isinstance(answer, UnfitDraft | BudgetExceeded)
        return _Outcome(section.text, "kept" if is_unfit else "failed", answer.message)
    new = in_place_of(section, answer.text)
    if fault := _find_fault(sections, at, new, issues_of(thought) if protect else None):
        return _Outcome(section.text, "kept", fault)
    return _Outcome(new, "improved")


def _find_fault(
    sections: Sequence[Section], at: int, new: str, issues: Sequence[Issue] | None
) -> str | None:
    """The reason why a new text cannot replace a section; None when it can.

    Args:
        sections: All of the document.
        at: The place of this one among them.
        new: The new text, with the white space and the heading of the section.
        issues: The issues of the section, where code, numbers, quotes, links and names must survive
            at which none points.
    """
    section = sections[at]
    if not new.strip():
        return "the answer is empty"
    if not open_fence(section.text) and open_fence(new):
        return "the answer leaves a code block open"
    own = {heading.title.casefold() for heading in section.headings}
    others = {h.title.casefold() for s in sections if s is not section for h in s.headings} - own
    brought = {block.title.casefold() for block in Markdown(new, 0).blocks if block.level}
    if foreign := sorted(brought & others):
        return f"the answer brings other sections along: {foreign[0][:80]!r}"
    lost = [
        span
        for span in (() if issues is None else lost_spans(section.text, new))
        if not any(span in i.quote and len(i.quote) <= len(span) + _NEARBY for i in issues or ())
    ]
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        return f"the answer loses {' '.join(lost[0].split())[:80]!r}{more}"
    return "the answer is the same text" if new == section.text else None


def in_place_of(section: Section, answer: str) -> str:
    """The answer with the section's heading, its line ends, and the white space around it.

    A heading that the model left out is put back, one whose marks it changed has them as before,
    and one whose words it changed keeps the words.
    """
    body = answer.strip()
    if not body:
        return ""
    if body == section.text.strip():  # its beginning would be read as without its indent
        return section.text
    if "\r\n" in section.text and not _BARE.search(section.text):
        body = _BARE.sub("\r\n", body)
    if section.heading:
        body = _restore_heading(section, body).strip()
    text = section.text
    return text[: len(text) - len(text.lstrip())] + body + text[len(text.rstrip()) :]


def _restore_heading(section: Section, body: str) -> str:
    """A text under the section's heading."""
    level, heading = section.headings[0].level, section.heading
    ends = heading if heading.endswith(("\n", "\r")) else f"{heading}\n"
    first = Markdown(body, 0).blocks[0]
    if not first.level:
        line, _, rest = body.partition("\n")
        # Perhaps its words are there, without marks.
        return ends + rest if _fold(line) == _fold(section.title) else _pad_heading(section) + body
    rest = body[first.stop :]
    if _fold(first.title) == _fold(section.title):
        return ends + rest
    if first.level == level:
        return body
    if any(_fold(first.title) == _fold(under.title) for under in section.headings[1:]):
        return _pad_heading(section) + body
    return f"{'#' * level} {first.title}\n{rest}"


def _pad_heading(section: Section) -> str:
    """The heading with the blank lines after it."""
    after = section.text[len(section.heading) :]
    blank = re.match(r"\s*", after)
    return section.heading + (blank.group() if blank and after.strip() else "\n")


def _fold(line: str) -> str:
    return " ".join(line.strip(_MARKS + "\r").casefold().split())


def _join_sections(
    sections: Sequence[Section], outcomes: Sequence[_Outcome], answers: Sequence[Attempt]
) -> Generation:
    written = [each for each in answers if isinstance(each, Generation)]
    authors = [each.author for each in written if each.author]
    statuses = [
        {
            "title": section.title[:200],
            "status": outcome.status,
            **({"reason": outcome.reason} if outcome.reason else {}),
        }
        for section, outcome in zip(sections, outcomes, strict=True)
    ]
    degraded = [
        f"{section.label} was not written: {outcome.reason}"
        for section, outcome in zip(sections, outcomes, strict=True)
        if outcome.status == "failed"
    ]
    if refused := [each for each in answers if isinstance(each, BudgetExceeded)]:
        count = f"{len(refused)} of {len(sections)} sections were"
        degraded.append(f"{count} not written: {refused[0].message}")
    return Generation(
        text="".join(outcome.text for outcome in outcomes),
        prompt_used="\n\n".join(each.prompt_used for each in written if each.prompt_used) or None,
        author=max(authors, key=authors.count) if authors else None,
        usage=sum((each.usage for each in written), Usage()),
        metered=True,  # those that were not have been charged one by one
        tool_calls=tuple(call for each in written for call in each.tool_calls),
        metadata={"sections": statuses, **({"degraded": degraded} if degraded else {})},
    )


# The feedback on the whole text, and the sections that it is about.


def _divide_feedback(thought: Thought, sections: Sequence[Section]) -> Sequence[Thought]:
    """The thought of each section, with the feedback of failed validators and critics on it.

    An issue with a place belongs to the sections that the place touches. Any other remark belongs
    to the section that its label, its quote or a title in it names; when it names none, a remark
    on something that is missing belongs to the section that has most words in common with it, and
    any other to all sections.
    """
    router = _Router(sections)
    results: list[dict[str, ValidationResult]] = [{} for _ in sections]
    remarks: list[list[CriticFeedback]] = [[] for _ in sections]
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
    for feedback in thought.critic_feedback:
        if feedback.status != "ok":
            continue
        placed = router.issues(feedback.issues)
        suggested = router.suggestions(feedback.suggestions, placed)
        for at in sorted(placed.keys() | suggested.keys()):
            changes = {"issues": tuple(placed[at]), "suggestions": tuple(suggested[at])}
            remarks[at].append(feedback.model_copy(update=changes))
    terms = shared_terms([section.text for section in sections])
    return [
        thought_of(
            thought, sections, at, terms=terms[at], results=results[at], feedback=tuple(remarks[at])
        )
        for at in range(len(sections))
    ]


def _find_concerned(
    thought: Thought, sections: Sequence[Section], parts: Sequence[Thought]
) -> tuple[bool, ...]:
    """For each section, true when it is to be written again.

    One that something was said about is. Where critics have weighed the text against its task the
    others are not: they meet it. Where none has, or what they said names no section, the task
    concerns the sections whose titles it names, or else all.
    """
    about = [bool(each.validation_results or each.critic_feedback) for each in parts]
    spoke = [each for each in thought.critic_feedback if each.status == "ok"]
    judged = bool(thought.prompt) and any(each.judges_task for each in spoke)
    wanted = bool(thought.prompt) or any(each.verdict == "revise" for each in spoke)
    by_task = wanted and not (any(about) and (judged or not thought.prompt))
    named = _Router(sections).named(thought.prompt) or range(len(sections))
    return tuple(
        (about[at] or (by_task and at in named))
        and bool(section.text.strip())
        and not section.literal
        for at, section in enumerate(sections)
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

    def issues(self, issues: Iterable[Issue]) -> defaultdict[int, list[Issue]]:
        """The issues of each section, as they are about its own text."""
        placed: defaultdict[int, list[Issue]] = defaultdict(list)
        for issue in issues:
            if issue.start is not None and issue.end is not None:
                for section in overlapping(self._sections, issue.start, issue.end):
                    placed[section.number - 1].append(_clip_issue(issue, section))
                continue
            number, message = labelled(issue.message)
            unlabelled = issue.model_copy(update={"message": message})
            for at in self._locate_issue(issue, number):
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
            places = self._at(number) or messages.get(words) or self.named(words)
            for at in places or range(len(self._sections)):
                placed[at].append(words)
        return placed

    def named(self, remark: str) -> frozenset[int]:
        """The sections whose titles a remark names: in quotation marks, or as sections."""
        flat = " ".join(remark.casefold().split())
        return frozenset(
            at
            for title, places in self._titles.items()
            if title in flat
            and (
                any(f"{a}{title}{b}" in flat for a, b in ('""', "“”", "''", "‘’", "«»", "``"))
                or any(f"{kind} {title}" in flat for kind in ("section", "chapter", "part"))
                or any(f"{title} {kind}" in flat for kind in ("section", "chapter"))
            )
            for at in places
        )

    def _locate_issue(self, issue: Issue, number: int | None) -> Iterable[int]:
        quoted = (
            at for at, s in enumerate(self._sections) if issue.quote and issue.quote in s.text
        )
        places = self._at(number) or [*islice(quoted, 1)] or sorted(self.named(issue.message))
        if not places and issue.category in _IN_ONE_PLACE:
            return (self._find_nearest(issue.message),)
        return places or range(len(self._sections))

    def _at(self, number: int | None) -> list[int]:
        """The place of the section of a number; none where there is no such section."""
        return [number - 1] if number is not None and 0 < number <= len(self._sections) else []

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [frozenset(section.text.casefold().split()) for section in self._sections]

    def _find_nearest(self, message: str) -> int:
        """The section with most words of a message; of equal ones the last."""
        wanted = {word.strip(".,;:!?'\"“”()") for word in message.casefold().split()}
        shares = [len(wanted & words) for words in self._words]
        writable = [at for at, section in enumerate(self._sections) if not section.literal]
        return max(writable or range(len(shares)), key=lambda at: (shares[at], at))


def _clip_issue(issue: Issue, section: Section) -> Issue:
    """An issue as it is about the part of its place that lies in a section."""
    start, end = issue.start or 0, issue.end or 0
    if section.start <= start and end <= section.end:
        return issue.model_copy(update={"start": start - section.start, "end": end - section.start})
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
