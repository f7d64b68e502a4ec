"""The outline of a report, as a model plans it or the question's words suggest."""

import re
from collections.abc import Iterable, Sequence

from sifaka.evidence.plan import distinct
from sifaka.evidence.plan import plan as evidence_plan
from sifaka.research.agents.report import ReportPlan
from sifaka.research.findings import one_line
from sifaka.research.state import Outline, SectionPlan
from sifaka.validators.report_lines import REFERENCES

ANSWER = "Answer"
"""The heading of the only section of a report."""
_LONGEST_TITLE = 120
_LONGEST_QUESTION = 2_000
_CITATION = re.compile(r"\[(\^?[\d,; ]+)\]")


def outline_of(plan: ReportPlan, most: int) -> Outline:
    """The outline that a model has planned: its first sections, each under a title of its own."""
    planned = [
        SectionPlan(
            title=_title(s.title) or _title(s.question) or "Section",
            question=one_line(s.question)[:_LONGEST_QUESTION] or s.title,
        )
        for s in plan.sections
    ]
    return Outline(
        title=_title(plan.title),
        sections=_told_apart(planned[:most]),
        degraded=_left_out(planned[most:]),
    )


def outline_of_one(question: str, degraded: str) -> Outline:
    """The whole question as the only section."""
    section = SectionPlan(title=ANSWER, question=question)
    return Outline(sections=(section,), degraded=(f"{degraded}; the report has one section",))


async def outline_without_model(question: str, most: int) -> Outline:
    """A section for each query of the plan that is made of the question's words."""
    plan = await evidence_plan(question, None)
    planned = [
        SectionPlan(title=_capital(_title(query)) or "Findings", question=query)
        for query in plan.queries
    ]
    told = (plan.degraded,) if plan.degraded else ()
    return Outline(
        title=_title(question),
        sections=_told_apart(planned[:most]),
        degraded=(*told, *_left_out(planned[most:])),
    )


def heading(question: str) -> str:
    """A question as the heading of a report, in one line."""
    line = one_line(question)
    return line if len(line) <= 200 else f"{line[:200].rpartition(' ')[0]}…"


def _title(text: str) -> str:
    """A heading of one line, without marks of Markdown around it or citations in it."""
    line = _CITATION.sub(r"(\1)", one_line(text)).strip("#*_ ")
    if len(line) <= _LONGEST_TITLE:
        return line
    return (line[:_LONGEST_TITLE].rpartition(" ")[0] or line[:_LONGEST_TITLE]) + "…"


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def _told_apart(sections: Sequence[SectionPlan]) -> tuple[SectionPlan, ...]:
    titles = distinct([section.title for section in sections], "{} ({})", taken=[REFERENCES])
    return tuple(
        section.model_copy(update={"title": title})
        for section, title in zip(sections, titles, strict=True)
    )


def _left_out(sections: Iterable[SectionPlan]) -> tuple[str, ...]:
    titles = [section.title for section in sections]
    return (f"planned and left out: {', '.join(titles)}",) if titles else ()
