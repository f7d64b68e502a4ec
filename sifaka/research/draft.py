"""The last node of a loop: the section, written from what was found."""

from sifaka.calls.journal import scope
from sifaka.errors import BudgetExceeded
from sifaka.research.agents.ask import consult
from sifaka.research.agents.writer import WRITER, WriterInput
from sifaka.research.citations import cited, renumbered
from sifaka.research.drafts import outlined, plain, tidied
from sifaka.research.findings import Finding, listed
from sifaka.research.graph import Done
from sifaka.research.limits import in_order, stop_of
from sifaka.research.resources import Loop
from sifaka.research.state import LoopState, Section, Written


async def write(loop: Loop, state: LoopState, came: object) -> Done[LoopState]:
    """Write the section with the model; without room for a call, of the findings' own words.

    A section for which nothing was found says so, and no model is asked.
    """
    del came  # a limit may have been reached instead of a gap's end
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
    section = Section(
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
    return Done(state, section)


async def _drafted(loop: Loop, state: LoopState) -> str:
    """What the model writes.

    Raises:
        BudgetExceeded: There is no room for it.
    """
    assert loop.work.model is not None, "there is somebody to write"
    observations = [one.observations for one in (*state.rounds, state.now) if one.observations]
    given = WriterInput(
        title=loop.plan.title,
        question=loop.plan.question,
        findings=listed(state.findings),
        observations=observations[-1] if observations else "",
        part_of=loop.part_of,
    )
    with loop.purse.to_write(), scope("writer"):
        draft = await consult(WRITER, loop.work.model, given, history=loop.work.history)
    return tidied(draft.text, loop.plan.title)


def _resolved(loop: Loop, text: str, state: LoopState) -> tuple[str, LoopState]:
    """The draft without citations of nothing, and what is to be told of it."""
    known: dict[int, Finding] = {finding.number: finding for finding in state.findings}
    text, unknown = renumbered(text, {number: number for number in known})
    lines = list(state.now.degraded)
    if unknown:
        told = ", ".join(f"[{number}]" for number in unknown)
        lines.append(f"{loop.plan.title!r} cited what was not found; removed: {told}")
    if not cited(text):
        lines.append(f"{loop.plan.title!r} cites nothing")
    return text, state.adding(degraded=tuple(lines))
