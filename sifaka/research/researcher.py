"""Research on graphs; see `sifaka.research.protocol.Researcher`."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sifaka.calls.context import current_calls
from sifaka.errors import BudgetExceeded
from sifaka.evidence.passages import overlap
from sifaka.evidence.pipeline import checked_question
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.research_question import Inquiry, ResearchMode
from sifaka.record.thought import Thought
from sifaka.research.agents import (
    PARSER,
    ParsedQuestion,
    PlannedSection,
    conversation,
    parser_prompt,
    trimmed,
)
from sifaka.research.progress import ResearchSteps, Work, record_plan
from sifaka.research.protocol import Desk
from sifaka.research.report import ANSWER, Report, heading
from sifaka.research.state import Mode, Outline, ParsedQuery, one_line

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

AUTHOR = "research"
"""The author of a report that no model has written."""


class GraphResearcher:
    """Researches a question by the iterative graph, or by the deep one.

    It keeps nothing: any number of runs may be worked on by one researcher at the same time.

    Args:
        inquiry: The kind of research and its limits.
        adapters: The adapters to search with.
        model: The model that thinks and writes; None makes an outline of the evidence for the
            caller.
        judge: The model that decides whether a loop goes on; None for the one that thinks.
    """

    def __init__(
        self,
        inquiry: Inquiry,
        adapters: Adapters,
        model: "Model | None",
        *,
        judge: "Model | None" = None,
    ) -> None:
        self.model = model
        self._judge = judge
        self._inquiry = inquiry
        self._adapters = adapters

    async def research(self, desk: Desk, *, history: "Sequence[ModelMessage]" = ()) -> Thought:
        """The report, as the first version of the run; see `Researcher`.

        Args:
            desk: The run.
            history: The user's conversation before the question, for every agent. What the
                research itself has thought and done is given to its agents apart from it.

        Raises:
            ConfigurationError: The question is empty, there is no adapter, or none of a name.
            SifakaError: Nothing came of it.
            StorageError: A step could not be put on record.
            Suspended: Answers of the host are needed.
        """
        from sifaka.research.deep import research_report

        progress = ResearchSteps.of(desk.run)
        work = Work(
            desk=desk,
            question=checked_question(desk.run.prompt),
            inquiry=self._inquiry,
            adapters=Adapters(self._adapters.chosen(self._inquiry.adapters)),
            model=self.model,
            calls=current_calls(),
            progress=progress,
            judge=self._judge,
            history=(*conversation(self._inquiry.history), *trimmed(history)),
        )
        read = await parsed(work) if progress.plan is None else progress.plan.parsed
        work = replace(work, question=read.question, parsed=read)
        report = await (_run_loop(work) if read.mode == "iterative" else research_report(work))
        author = AUTHOR if self.model is None else self.model.model_id
        thought = report.as_thought(desk.run, author=author, usage=work.calls.ledger.spent)
        return thought.add_degraded(read.degraded)


async def _run_loop(work: Work) -> Report:
    from sifaka.research.iterative import research_section

    plan = PlannedSection(title=ANSWER, question=work.question)
    if work.progress.plan is None:
        await record_plan(work, Outline(sections=(plan,)))
    if 0 not in work.progress.sections:
        work.allot([0], besides=0)
    section = await research_section(work, 0, plan)
    return Report(mode="iterative", title=heading(work.question), sections=(section,))


LONG = 40
"""Words: a question of so many asks for several things."""
_REPORT = re.compile(
    r"\b(?:reports?|overviews?|surveys?|stud(?:y|ies)|white ?papers?|state of the art|literature"
    r"|in[- ]depth|comprehensive(?:ly)?|compar(?:e|es|ed|ing|isons?)|versus|vs|pros and cons"
    r"|advantages and disadvantages|analy[sz](?:e|es|is)|berichte?|überblick|übersicht"
    r"|vergleich(?:e|en)?)\b",
    re.IGNORECASE,
)
_ROOM = 8
"""Calls that are left, from which one is spent on reading the question."""
_LONGEST = 2_000
_SAID = 0.6
"""The share of a question's telling words that have to stand in the other one."""


async def parsed(work: Work) -> ParsedQuery:
    """The question as it is meant, and its mode.

    A model is asked for a mode that was not chosen, and for what a question means after a
    conversation. The rules take the place of an answer that cannot be had, and the question stays
    as it was asked where the answer says something else than it and the conversation.

    Raises:
        StorageError: The answer could not be put on record.
        Suspended: The answer of the host is needed.
    """
    question, inquiry = work.question, work.inquiry
    by_rule = ParsedQuery(question=question, mode=chosen_mode(inquiry.mode, question))
    if not inquiry.history and inquiry.mode != "auto":
        return by_rule
    if work.model is None:
        lines = ("the conversation was not read: there is no model",) if inquiry.history else ()
        return by_rule.model_copy(update={"degraded": lines})
    if work.calls.ledger.calls_left < _ROOM or not (work.advisers or inquiry.history):
        return by_rule
    await work.desk.tell("thinking", "reading the question")
    answer = await work.advice(PARSER, parser_prompt(question))
    if isinstance(answer, BudgetExceeded):
        return by_rule
    if not isinstance(answer, ParsedQuestion):
        return by_rule.model_copy(
            update={"degraded": (f"the question was read by rules: {answer.message}",)}
        )
    mode = answer.mode if inquiry.mode == "auto" else inquiry.mode
    if not inquiry.history:
        return ParsedQuery(question=question, mode=mode)
    return _restate_question(work, answer, mode)


def _restate_question(work: Work, answer: ParsedQuestion, mode: Mode) -> ParsedQuery:
    """The question in the words of the model, where all of them were said before."""
    original, question = work.question, one_line(answer.question)[:_LONGEST]
    before = " ".join((original, *(turn.text for turn in work.inquiry.history)))
    if overlap(original, question) >= _SAID and overlap(question, before) >= _SAID:
        return ParsedQuery(question=question, mode=mode)
    return ParsedQuery(
        question=original,
        mode=mode,
        degraded=("the question was researched as it was asked: its reading said something else",),
    )


def chosen_mode(mode: ResearchMode, question: str) -> Mode:
    """The mode by rules.

    `auto` takes `deep` for a question that speaks of a report, an overview, a comparison or an
    analysis, and for one of at least `LONG` words; otherwise `iterative`.
    """
    if mode != "auto":
        return mode
    is_wide = _REPORT.search(question) is not None or len(question.split()) >= LONG
    return "deep" if is_wide else "iterative"
