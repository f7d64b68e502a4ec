"""The outline and the report of a research: text, references, and how it came about."""

import re
from collections.abc import Iterable, Sequence

from sifaka._internal.immutable import Frozen
from sifaka._internal.naming import unique
from sifaka.evidence.pipeline import plan as evidence_plan
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.research.agents.report import ReportPlan
from sifaka.research.limits import Stop, in_order
from sifaka.research.references import Reference, listing, literal, numbered, renumbered
from sifaka.research.state import Mode, Outline, ReportSection, SectionPlan, one_line
from sifaka.text.prose import whole_words
from sifaka.validators.report_lines import REFERENCES


class Report(Frozen):
    """The result of a research."""

    mode: Mode
    title: str
    summary: str = ""
    sections: tuple[ReportSection, ...]
    stops: tuple[Stop, ...] = ()
    """Limits that were reached besides those of the sections."""
    degraded: tuple[str, ...] = ()

    def as_thought(self, run: Run, *, author: str, usage: Usage) -> Thought:
        """The report as the first version of a run."""
        body, references = body_of(self.sections)
        summary, unknown = renumbered(self.summary, {r.number: r.number for r in references})
        degraded = [*self.degraded, *(line for s in self.sections for line in s.degraded)]
        if unknown:
            told = ", ".join(f"[{number}]" for number in unknown)
            degraded.append(f"the summary cited what was not found; removed: {told}")
        failed = [section for section in self.sections if section.status == "failed"]
        degraded += [f"{section.title!r} failed: {section.error}" for section in failed]
        parts = (f"# {literal(self.title)}", summary.strip(), body, listing(references))
        stops: tuple[Stop, ...] = (
            *self.stops,
            *(stop for section in self.sections for stop in section.stops),
        )
        research = {
            "mode": self.mode,
            "partial": bool(failed),
            "written": all(section.written != "outline" for section in self.sections),
            "outline": [section.title for section in self.sections],
            "sections": [_told(section) for section in self.sections],
            "references": [reference.told() for reference in references],
            "stop_reasons": list(in_order(stops)),
        }
        return Thought(
            prompt=run.prompt,
            run_id=run.run_id,
            text="\n\n".join(filter(None, parts)) + "\n",
            author=author,
            pre_generation_context=tuple(
                reference.document.as_document() for reference in references
            ),
            usage=usage,
            metadata={"research": research},
        ).add_degraded(tuple(dict.fromkeys(degraded)))


def body_of(sections: Sequence[ReportSection]) -> tuple[str, tuple[Reference, ...]]:
    """The sections under their headings, numbered throughout, and their references."""
    texts, references = numbered(sections)
    parts = [
        f"## {section.title}\n\n{text if section.status == 'done' else _failure(section)}"
        for section, text in zip(sections, texts, strict=True)
    ]
    return "\n\n".join(parts), references


def _failure(section: ReportSection) -> str:
    return f"_This section could not be researched: {literal(one_line(str(section.error)))}_"


def _told(section: ReportSection) -> dict[str, object]:
    return {
        "title": section.title,
        "status": section.status,
        "error": section.error,
        "iterations": section.iterations,
        "written": section.written,
        "stop_reasons": list(section.stops),
    }


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
    return _shortened(one_line(question), 200)


def _title(text: str) -> str:
    """A heading of one line, without marks of Markdown around it or citations in it."""
    line = _CITATION.sub(r"(\1)", one_line(text)).strip("#*_ ")
    return _shortened(line, _LONGEST_TITLE)


def _shortened(line: str, most: int) -> str:
    return line if len(line) <= most else f"{whole_words(line, most)}…"


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def _told_apart(sections: Sequence[SectionPlan]) -> tuple[SectionPlan, ...]:
    given = [section.title for section in sections]
    titles = unique(given, "{} ({})", taken=[REFERENCES], key=str.casefold)
    return tuple(
        section.model_copy(update={"title": title})
        for section, title in zip(sections, titles, strict=True)
    )


def _left_out(sections: Iterable[SectionPlan]) -> tuple[str, ...]:
    titles = [section.title for section in sections]
    return (f"planned and left out: {', '.join(titles)}",) if titles else ()
