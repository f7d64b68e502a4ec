"""The reading of a question: by a model, with rules where none can be asked or believed."""

import re

from sifaka.errors import BudgetExceeded
from sifaka.evidence.passages import overlap
from sifaka.record.research_question import ResearchMode
from sifaka.research.agents.parser import PARSER, ParsedQuestion, parser_prompt
from sifaka.research.progress import Work
from sifaka.research.state import Mode, ParsedQuery, one_line

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
    asked, inquiry = work.question, work.inquiry
    by_rule = ParsedQuery(question=asked, mode=chosen_mode(inquiry.mode, asked))
    if not inquiry.history and inquiry.mode != "auto":
        return by_rule
    if work.model is None:
        told = ("the conversation was not read: there is no model",) if inquiry.history else ()
        return by_rule.model_copy(update={"degraded": told})
    if work.calls.ledger.calls_left < _ROOM or not (work.advisers or inquiry.history):
        return by_rule
    await work.desk.tell("thinking", "reading the question")
    said = await work.advice(PARSER, parser_prompt(asked))
    if isinstance(said, BudgetExceeded):
        return by_rule
    if not isinstance(said, ParsedQuestion):
        told = f"the question was read by rules: {said.message}"
        return by_rule.model_copy(update={"degraded": (told,)})
    mode = said.mode if inquiry.mode == "auto" else inquiry.mode
    if not inquiry.history:
        return ParsedQuery(question=asked, mode=mode)
    return _restated(work, said, mode)


def _restated(work: Work, said: ParsedQuestion, mode: Mode) -> ParsedQuery:
    """The question in the words of the model, where all of them were said before."""
    asked, question = work.question, one_line(said.question)[:_LONGEST]
    before = " ".join((asked, *(turn.text for turn in work.inquiry.history)))
    if overlap(asked, question) >= _SAID and overlap(question, before) >= _SAID:
        return ParsedQuery(question=question, mode=mode)
    told = "the question was researched as it was asked: its reading said something else"
    return ParsedQuery(question=asked, mode=mode, degraded=(told,))


def chosen_mode(mode: ResearchMode, question: str) -> Mode:
    """The mode by rules.

    `auto` takes `deep` for a question that speaks of a report, an overview, a comparison or an
    analysis, and for one of at least `LONG` words; otherwise `iterative`.
    """
    if mode != "auto":
        return mode
    is_wide = _REPORT.search(question) is not None or len(question.split()) >= LONG
    return "deep" if is_wide else "iterative"
