"""A writer that works on a long text section by section."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Literal

import anyio

from sifaka.calls.context import PARALLEL, current_calls, fan_out
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models.protocol import Generation, Model
from sifaka.models.section import fault_of, in_place_of, pointed_at, thought_of
from sifaka.models.section_feedback import SectionFeedback, concerned, feedback_by_section
from sifaka.models.writing import Attempt, UnfitDraft, attempt, written
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.text.glossary import lost_terms, shared_terms
from sifaka.text.sections import Section, split

Status = Literal["improved", "kept", "untouched", "failed"]
_UNREPEATED = frozenset({"calls", "seconds"})
"""Limits of a budget that leave no more room when calls under way have ended."""


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
    are, byte by byte. So does one whose new text lacks such a term or what is protected, brings
    other sections along or is empty, and one that failed or that the budget has no room for.

    A shared term may go where an issue points at it, and in a run with a task where it goes from
    every section that had it: a translation, another name.

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
    if not (sections := _sections(thought, section_chars)):
        return await written(writer, thought)
    work = _Work(thought, sections)
    answers = await _answers(writer, work, calls)
    if answers and not any(isinstance(a, Generation | UnfitDraft) for a in answers.values()):
        raise _worst(list(answers.values()))
    outcomes = work.outcomes(answers, protect=protect and not thought.prompt)
    return _put_together(sections, outcomes, list(answers.values()))


def calls_for(thought: Thought, section_chars: int | None) -> int:
    """The model calls that the next version takes at least, when it is written in full."""
    if not (sections := _sections(thought, section_chars)):
        return 1
    return max(1, sum(concerned(thought, sections, feedback_by_section(thought, sections))))


def _sections(thought: Thought, section_chars: int | None) -> Sequence[Section]:
    """The sections that a text is written in; none for one that is written as a whole."""
    if section_chars is None or len(thought.text) <= section_chars or not current_calls().mends:
        return ()  # or one that is on record as a whole
    return split(thought.text, section_chars // 2)


async def _answers(writer: Model, work: "_Work", calls: float) -> Mapping[int, Attempt]:
    """The answer for each section that was to be written, by its place among all."""
    answers: dict[int, Attempt] = {}
    open_ = list(work.concerned)
    within = anyio.Semaphore(PARALLEL)  # the run's own bounds only models that are metered
    write = partial(_within, within)
    while open_:
        room = calls - len(work.concerned) + len(open_)
        asked = [at for n, at in enumerate(open_, 1) if n <= room]
        answers |= {at: BudgetExceeded("calls") for at in open_[len(asked) :]}
        branches: dict[str, Callable[[], Any]] = {
            work.place(at): partial(attempt, writer, work.thought(at), write) for at in asked
        }
        came = dict(zip(asked, await fan_out(branches, calls_each=0), strict=True))
        answers |= came
        # What was set aside for the others is free when they have ended, and may be enough.
        late = [at for at, each in came.items() if _may_fit_later(each)]
        open_ = late if len(late) < len(asked) else []
    return {at: answers[at] for at in work.concerned}


async def _within(limiter: anyio.Semaphore, writer: Model, thought: Thought) -> Generation:
    async with limiter:
        with current_calls().set_aside(1):
            return await written(writer, thought)


class _Work:
    """The sections of one text, and what is to be done with them."""

    def __init__(self, thought: Thought, sections: Sequence[Section]) -> None:
        self.sections = sections
        self._thought = thought
        self._said: Sequence[SectionFeedback] = feedback_by_section(thought, sections)
        self._terms = shared_terms([section.text for section in sections])
        wanted = concerned(thought, sections, self._said)
        self.concerned = [at for at, each in enumerate(wanted) if each]

    def place(self, at: int) -> str:
        """The name of a section's place in the journal, the same for the same section."""
        section = self.sections[at]
        digest = sha256(section.text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"section {section.number} {digest[:8]}"

    def thought(self, at: int) -> Thought:
        """The thought of one section, as the writer sees it."""
        said = self._said[at]
        return thought_of(
            self._thought,
            self.sections,
            at,
            terms=self._terms[at],
            results=said.results,
            feedback=said.feedback,
        )

    def outcomes(self, answers: Mapping[int, Attempt], *, protect: bool) -> list[_Outcome]:
        """The outcome for each section, in order."""
        titles = [{h.title.casefold() for h in s.headings} for s in self.sections]
        every = frozenset[str]().union(*titles)
        outcomes = [_Outcome(section.text, "untouched") for section in self.sections]
        for at, answer in answers.items():
            section = self.sections[at]
            if not isinstance(answer, Generation):
                is_unfit = isinstance(answer, UnfitDraft | BudgetExceeded)
                status = "kept" if is_unfit else "failed"
                outcomes[at] = _Outcome(section.text, status, answer.message)
                continue
            new = in_place_of(section, answer.text)
            others = every - frozenset(titles[at])
            issues = self._said[at].issues
            fault = fault_of(section, new, others, issues=issues, protect=protect)
            if fault is None and new == section.text:
                fault = "the answer is the same text"
            outcomes[at] = _Outcome(new, "improved")
            if fault is not None:
                outcomes[at] = _Outcome(section.text, "kept", fault)
        return self._with_terms(outcomes)

    def _with_terms(self, outcomes: list[_Outcome]) -> list[_Outcome]:
        """The outcomes without those that lose a term which the document goes on using."""
        lost = {
            at: frozenset(lost_terms(self._terms[at], outcome.text))
            for at, outcome in enumerate(outcomes)
            if outcome.status == "improved"
        }
        while True:
            used = frozenset[str]().union(
                *(terms - lost.get(at, frozenset()) for at, terms in enumerate(self._terms))
            )
            # Without a task no other word was asked for.
            kept = used if self._thought.prompt else frozenset[str]().union(*self._terms)
            turned_down = {
                at: missing
                for at, terms in lost.items()
                if (missing := [t for t in sorted(terms & kept) if not self._asked(at, t)])
            }
            if not turned_down:
                return outcomes
            for at, missing in turned_down.items():
                reason = f"the answer loses a term that other sections use: {missing[0]!r}"
                outcomes[at] = _Outcome(self.sections[at].text, "kept", reason)
                del lost[at]

    def _asked(self, at: int, term: str) -> bool:
        return pointed_at(term, self._said[at].issues)


def _may_fit_later(answer: Attempt) -> bool:
    return isinstance(answer, BudgetExceeded) and answer.limit not in _UNREPEATED


def _worst(failures: Sequence[Attempt]) -> Exception:
    """The error of a version of which no section was written: a provider's before a limit."""
    errors = [each for each in failures if not isinstance(each, Generation)]
    return next((e for e in errors if isinstance(e, ModelProviderError)), errors[0])


def _put_together(
    sections: Sequence[Section], outcomes: Sequence[_Outcome], answers: Sequence[Attempt]
) -> Generation:
    written = [each for each in answers if isinstance(each, Generation)]
    authors = [each.author for each in written if each.author]
    told = [
        {
            "title": section.title[:200],
            "status": outcome.status,
            **({"reason": outcome.reason} if outcome.reason else {}),
        }
        for section, outcome in zip(sections, outcomes, strict=True)
    ]
    degraded = _degraded(sections, outcomes, answers)
    return Generation(
        text="".join(outcome.text for outcome in outcomes),
        prompt_used="\n\n".join(each.prompt_used for each in written if each.prompt_used) or None,
        author=max(authors, key=authors.count) if authors else None,
        usage=sum((each.usage for each in written), Usage()),
        metered=True,  # those that were not have been charged one by one
        tool_calls=tuple(call for each in written for call in each.tool_calls),
        metadata={"sections": told, **({"degraded": degraded} if degraded else {})},
    )


def _degraded(
    sections: Sequence[Section], outcomes: Sequence[_Outcome], answers: Sequence[Attempt]
) -> list[str]:
    """One line for each section that failed, and one for those without room in the budget."""
    lines = [
        f"{section.label} was not written: {outcome.reason}"
        for section, outcome in zip(sections, outcomes, strict=True)
        if outcome.status == "failed"
    ]
    refused = [each for each in answers if isinstance(each, BudgetExceeded)]
    if refused:
        count = f"{len(refused)} of {len(sections)} sections were"
        lines.append(f"{count} not written: {refused[0].message}")
    return lines
