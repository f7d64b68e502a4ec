"""The report of a research: its text, its references, and how it came about."""

from collections.abc import Sequence

from sifaka._internal.immutable import Frozen
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.research.findings import one_line
from sifaka.research.limits import Stop, in_order
from sifaka.research.references import Reference, listing, literal, numbered, renumbered
from sifaka.research.state import Mode, ReportSection


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
