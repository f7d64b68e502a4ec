"""The text of sections: written by a model, or made of the findings' own words.

Where a model writes a report again so that its sections follow each other, nothing is added to
what they say. A version with another number, date, name or citation is not taken, and without an
answer the sections stay as they are.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic_graph import StepContext

from sifaka.calls.context import scope
from sifaka.errors import BudgetExceeded
from sifaka.research.agents import (
    LONG_WRITER,
    WRITER,
    NextSection,
    consult,
    long_writer_prompt,
    writer_prompt,
)
from sifaka.research.progress import Loop, Work
from sifaka.research.report import cited, literal, not_found, renumbered
from sifaka.research.state import (
    Finding,
    LoopState,
    ReportSection,
    Stop,
    Written,
    in_order,
    listed,
    one_line,
    stop_of,
)
from sifaka.text.differences import compare
from sifaka.text.markdown import Markdown, open_fence
from sifaka.validators.report import UNWRITTEN

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_REFERENCES = re.compile(
    r"\W*(?:references|sources|bibliography|works cited|citations)\W*", re.IGNORECASE
)


async def write(ctx: StepContext[None, Loop, LoopState]) -> ReportSection:
    """Write the section with the model; without room for a call, of the findings' own words.

    A section for which nothing was found says so, and no model is asked.
    """
    loop, state = ctx.deps, ctx.inputs
    findings, model = state.findings, loop.work.model
    written: Written = "outline" if model is None else "plain"
    text = ""
    if findings and model is not None:
        try:
            text = await _draft_section(loop, state, model)
        except BudgetExceeded as error:
            state = state.stopping(stop_of(error))
    if text:
        written, title = "model", repr(loop.plan.title)
        # Without citations of nothing, and with lines about them.
        text, unknown = renumbered(text, {each.number: each.number for each in findings})
        lines = (*state.now.degraded, *not_found(title, unknown))
        if not cited(text):
            lines = (*lines, f"{title} cites nothing")
        state = state.adding(degraded=lines)
    elif written == "outline":
        text = f"{UNWRITTEN}\n\n{quoted(findings) or 'Nothing was found for it.'}"
    else:
        text = plain(findings, state.stops)
    numbers = cited(text)
    return ReportSection(
        number=loop.number,
        title=loop.plan.title,
        status="done",
        text=text,
        written=written,
        findings=tuple(each for each in findings if each.number in numbers),
        iterations=len(state.rounds),
        stops=in_order(state.stops),
        degraded=state.degraded,
    )


async def _draft_section(loop: Loop, state: LoopState, model: "Model") -> str:
    """The model's draft."""
    observations = (one.observations for one in (state.now, *reversed(state.rounds)))
    prompt = writer_prompt(
        loop.plan.title,
        loop.plan.question,
        findings=listed(state.findings),
        observations=next(filter(None, observations), ""),
        part_of=loop.part_of,
    )
    with loop.budget.writing.active():
        draft = await consult(WRITER, model, prompt, history=loop.work.history)
    return tidied(draft.text, loop.plan.title)


def tidied(text: str, title: str) -> str:
    """A draft as it fits under its heading: lower headings, and no list of references."""
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    kept: list[str] = []
    for name, body in _split_sections(text):
        if name and _REFERENCES.fullmatch(name):
            continue
        is_title = not kept and one_line(name).casefold() == one_line(title).casefold()
        if name and not is_title:
            kept.append(f"### {name}")
        if body:
            kept.append(body)
    tidy = "\n\n".join(kept)
    # The text after the section must not become part of its code.
    fence = open_fence(tidy)
    return f"{tidy}\n{fence}" if fence else tidy


def plain(findings: Sequence[Finding], stops: Sequence[Stop]) -> str:
    """The findings word for word, where there was no room for the writer's call."""
    if not findings:
        return f"Nothing was found{_give_reason(stops)}."
    return f"What was found stands here as it was found{_give_reason(stops)}:\n\n{quoted(findings)}"


def quoted(findings: Sequence[Finding]) -> str:
    """A list of the findings' words, each with its citation."""
    return "\n".join(
        f"- “{literal(one_line(words))}” [{finding.number}]"
        for finding in findings
        for words in finding.words
    )


def _give_reason(stops: Sequence[Stop]) -> str:
    limits = [stop for stop in in_order(stops) if stop != "iterations"]
    return f", as the budget of {' and '.join(limits)} was spent" if limits else ""


def _split_sections(text: str) -> list[tuple[str, str]]:
    """The headings of a text, each with its body; the first heading may be empty."""
    headings = [block for block in Markdown(text, 0).blocks if block.level]
    starts = [0, *(block.end for block in headings)]
    ends = [*(block.start for block in headings), len(text)]
    names = ["", *(block.title for block in headings)]
    bodies = (text[start:end].strip("\n") for start, end in zip(starts, ends, strict=True))
    return [pair for pair in zip(names, bodies, strict=True) if any(pair)]


_LEAST = 0.5
"""The part of a draft's length that the section has at least."""


async def in_context(
    work: Work, sections: Sequence[ReportSection]
) -> tuple[tuple[ReportSection, ...], tuple[str, ...]]:
    """The sections, each written again to follow from those before it; and lines about failures.

    One call for each section that a model has written but the first, up to one that fails.
    """
    done: list[ReportSection] = []
    outline = [section.title for section in sections]
    for section in sections:
        before = "\n\n".join(
            f"## {each.title}\n\n{_drop_marks(each.text)}" for each in done if each.status == "done"
        )
        if section.written != "model" or section.status != "done" or not before:
            done.append(section)
            continue
        await work.desk.tell("synthesizing", f"writing {section.title!r}", section=section.number)
        prompt = long_writer_prompt(
            work.question, outline=outline, before=before, title=section.title, draft=section.text
        )
        with scope(f"writing {section.number}"):
            answer = await work.advice(LONG_WRITER, prompt)
        if not isinstance(answer, NextSection):
            reason = f"the long_writer has failed: {answer.message}"
            if isinstance(answer, BudgetExceeded):
                reason = f"no room for the long_writer ({answer.limit})"
            sections = (*done, *sections[len(done) :])
            return sections, (f"{reason}; sections stay as they were drafted",)
        done.append(_replace_text(section, answer.section))
    return tuple(done), ()


def _replace_text(section: ReportSection, draft: str) -> ReportSection:
    """The section with the text of the long writer, or as it is with the reason."""
    text = tidied(draft, section.title)
    numbers = {each.number for each in section.findings}
    if len(text) < _LEAST * len(section.text):
        problem = "it leaves out too much"
    elif not set(cited(text)) <= numbers or bool(cited(text)) != bool(cited(section.text)):
        problem = "it cites something else"
    else:
        basis = "\n\n".join((section.text, *(each.document.text for each in section.findings)))
        # A section is shorter than what it is drawn from: what it leaves out is no problem.
        changes = compare(_drop_marks(basis), _drop_marks(text)).differences
        added = next((each.after for each in changes if each.status == "open" and each.after), "")
        problem = f"it says {added!r}, which nothing found says" if added else ""
    if not problem:
        findings = tuple(each for each in section.findings if each.number in cited(text))
        return section.model_copy(update={"text": text, "findings": findings})
    line = f"{section.title!r} stays as it was drafted; the long writer's version: {problem}"
    return section.model_copy(update={"degraded": (*section.degraded, line)})


def _drop_marks(text: str) -> str:
    """The text without its citations."""
    return renumbered(text, {})[0]
