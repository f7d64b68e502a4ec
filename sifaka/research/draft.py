"""The text of a section: written by a model, or made of the findings' own words."""

import re
from collections.abc import Sequence

from sifaka.errors import BudgetExceeded
from sifaka.research.agents.agent import consult
from sifaka.research.agents.loop import WRITER, writer_prompt
from sifaka.research.limits import Stop, in_order, stop_of
from sifaka.research.progress import Loop
from sifaka.research.references import cited, literal, renumbered
from sifaka.research.state import Finding, LoopState, ReportSection, Written, listed, one_line
from sifaka.text.markdown import Markdown, open_fence
from sifaka.validators.report import UNWRITTEN

_REFERENCES = re.compile(
    r"\W*(?:references|sources|bibliography|works cited|citations)\W*", re.IGNORECASE
)


async def write(loop: Loop, state: LoopState) -> ReportSection:
    """Write the section with the model; without room for a call, of the findings' own words.

    A section for which nothing was found says so, and no model is asked.
    """
    findings = state.findings
    written: Written = "outline" if loop.work.model is None else "plain"
    text = ""
    if findings and loop.work.model is not None:
        try:
            text = await _drafted(loop, state)
        except BudgetExceeded as error:
            state = state.stopping(stop_of(error))
    if text:
        written = "model"
        text, state = _resolved(loop, text, state)
    elif written == "outline":
        text = outlined(findings)
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


async def _drafted(loop: Loop, state: LoopState) -> str:
    """The model's draft."""
    assert loop.work.model is not None, "without a model the caller writes"
    observations = [one.observations for one in (*state.rounds, state.now) if one.observations]
    prompt = writer_prompt(
        loop.plan.title,
        loop.plan.question,
        findings=listed(state.findings),
        observations=observations[-1] if observations else "",
        part_of=loop.part_of,
    )
    with loop.budget.writing.active():
        draft = await consult(WRITER, loop.work.model, prompt, history=loop.work.history)
    return tidied(draft.text, loop.plan.title)


def _resolved(loop: Loop, text: str, state: LoopState) -> tuple[str, LoopState]:
    """The draft without citations of nothing, and the state with lines about them."""
    known: dict[int, Finding] = {finding.number: finding for finding in state.findings}
    text, unknown = renumbered(text, {number: number for number in known})
    lines = list(state.now.degraded)
    if unknown:
        told = ", ".join(f"[{number}]" for number in unknown)
        lines.append(f"{loop.plan.title!r} cited what was not found; removed: {told}")
    if not cited(text):
        lines.append(f"{loop.plan.title!r} cites nothing")
    return text, state.adding(degraded=tuple(lines))


def tidied(text: str, title: str) -> str:
    """A draft as it fits under its heading: lower headings, and no list of references."""
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    kept: list[str] = []
    for name, body in _sections(text):
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
        return f"Nothing was found{_because(stops)}."
    lead = f"What was found stands here as it was found{_because(stops)}:"
    return f"{lead}\n\n{quoted(findings)}"


def outlined(findings: Sequence[Finding]) -> str:
    """The findings from which the caller writes a section."""
    found = quoted(findings) if findings else "Nothing was found for it."
    return f"{UNWRITTEN}\n\n{found}"


def quoted(findings: Sequence[Finding]) -> str:
    """A list of the findings' words, each with its citation."""
    return "\n".join(
        f"- “{literal(one_line(words))}” [{finding.number}]"
        for finding in findings
        for words in finding.words
    )


def _because(stops: Sequence[Stop]) -> str:
    told = [stop for stop in in_order(stops) if stop != "iterations"]
    return f", as the budget of {' and '.join(told)} was spent" if told else ""


def _sections(text: str) -> list[tuple[str, str]]:
    """The headings of a text, each with its body; the first heading may be empty."""
    headings = [block for block in Markdown(text, 0).blocks if block.level]
    starts = [0, *(block.end for block in headings)]
    ends = [*(block.start for block in headings), len(text)]
    names = ["", *(block.title for block in headings)]
    bodies = [text[start:end].strip("\n") for start, end in zip(starts, ends, strict=True)]
    return [pair for pair in zip(names, bodies, strict=True) if any(pair)]
