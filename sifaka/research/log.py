"""Putting steps of a research on record: each holds what it has added."""

from sifaka.record.entries import Researched
from sifaka.research.progress import Plan
from sifaka.research.resources import Loop, Work
from sifaka.research.state import Round, Section


async def record_plan(work: Work, plan: Plan) -> None:
    """The mode and the outline."""
    titles = ", ".join(section.title for section in plan.outline.sections)
    await work.desk.record(
        Researched(
            step="started",
            title=plan.outline.title,
            message=f"{plan.mode} research: {titles}",
            state=plan.model_dump(mode="json"),
        )
    )


async def record_start(loop: Loop) -> None:
    """The section whose research begins."""
    await loop.work.desk.record(
        Researched(
            step="section_started",
            section=loop.number,
            title=loop.plan.title,
            message=f"researching {loop.plan.title!r}",
        )
    )


async def record_round(loop: Loop, one: Round) -> None:
    """An iteration that has come to its end."""
    await loop.work.desk.record(
        Researched(
            step="looping",
            section=loop.number,
            title=loop.plan.title,
            iteration=one.number,
            message=f"iteration {one.number}: {len(one.findings)} new findings",
            state=one.model_dump(mode="json"),
        )
    )


async def record_section(work: Work, section: Section) -> None:
    """A section that has come to its end, in whichever way."""
    how = f"failed: {section.error}" if section.error else f"{len(section.findings)} references"
    await work.desk.record(
        Researched(
            step="section_finished",
            section=section.number,
            title=section.title,
            iteration=section.iterations,
            message=f"{section.title!r}: {how}",
            state=section.model_dump(mode="json"),
        )
    )
