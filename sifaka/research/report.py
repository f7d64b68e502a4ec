"""The report of a research, its citations and its references: one number for each document."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from urllib.parse import quote

from sifaka._internal.immutable import Frozen
from sifaka._internal.naming import unique
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.pipeline import plan as evidence_plan
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.research.agents import PlannedSection, ReportPlan
from sifaka.research.state import (
    Finding,
    Mode,
    Outline,
    ReportSection,
    Stop,
    in_order,
    one_line,
)
from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span, blanked, whole_words
from sifaka.validators.report import REFERENCES, markers_in

_LINK = re.compile(r"\([^()\s]*\)")
_ACTIVE = re.compile(r"[\[\]<]")
_LONGEST = 3_000
"""Characters of a document that goes with the report."""
_LONGEST_TITLE = 300
_IN_TITLES = str.maketrans("[]<>`", "()()'")
"""Characters that would make a citation, HTML or code there."""
_NOT_IN_URLS = re.compile(r"[\s<>\"`]")
_WEB = re.compile(r"https?://", re.IGNORECASE)


def cited(text: str) -> tuple[int, ...]:
    """The numbers that a text cites, in the order of their first mention."""
    return tuple(dict.fromkeys(n for numbers, _ in _find_markers(text) for n in numbers))


def renumbered(text: str, numbers: Mapping[int, int]) -> tuple[str, tuple[int, ...]]:
    """The text with other numbers, one pair of brackets for each; what is code stays as it is.

    Returns:
        The text without the markers that are not known, and the numbers of those.
    """
    unknown: list[int] = []
    pieces: list[str] = []
    done = 0
    for group, (start, end) in _find_markers(text):
        unknown += (number for number in group if number not in numbers)
        known = dict.fromkeys(numbers[number] for number in group if number in numbers)
        before = text[done:start]
        link = _LINK.match(text, end)
        done = link.end() if link else end
        # A bracket or a colon right after it would make it a link, or say where all such links go.
        apart = " " if text[done : done + 1] in {"(", ":"} else ""
        marks = "".join(f"[{number}]" for number in known)
        pieces += (before, marks, apart) if marks else (before.rstrip(" \t"),)
    return "".join((*pieces, text[done:])), tuple(dict.fromkeys(unknown))


def not_found(citing: str, numbers: Sequence[int]) -> tuple[str, ...]:
    """A line about citations of nothing, if there are any."""
    marks = ", ".join(f"[{number}]" for number in numbers)
    return (f"{citing} cited what was not found; removed: {marks}",) if numbers else ()


def literal(text: str) -> str:
    """A quoted text in which nothing is a citation, a link, an image, HTML or code."""
    return _ACTIVE.sub(r"\\\g<0>", text.replace("`", "'"))


def _find_markers(text: str) -> Iterator[tuple[tuple[int, ...], Span]]:
    return markers_in(blanked(text, code_spans(text)))


def _entry(number: int, document: SourceDocument) -> str:
    """The line of a document under the references."""
    named = [
        document.author.rstrip("."),
        document.title,
        document.day,
        # An address of another kind, such as a script, is no link.
        f"<{document.url}>" if _WEB.match(document.url) else document.url,
        f"doi:{document.doi}" if document.doi else "",
    ]
    if not (document.url or document.doi) and (document.id or not document.title):
        # A path with its page, or the number that the source gives it.
        named.append(f"{document.id or document.key} in {document.adapter or 'the sources'}")
    if document.also:
        named.append(f"Also {'; '.join(document.also)}")
    what = ". ".join(filter(None, named))
    return f"- [{number}] {what}. Retrieved {document.retrieved_at.date().isoformat()}."


def _describe_document(number: int, document: SourceDocument) -> dict[str, object]:
    return {
        "n": number,
        "title": document.title,
        "author": document.author,
        "published": document.published.isoformat() if document.published else None,
        "url": document.url,
        "id": document.id,
        "also": list(document.also),
        "adapter": document.adapter,
        "retrieved_at": document.retrieved_at.isoformat(),
    }


def _merge_passages(findings: Sequence[Finding]) -> SourceDocument:
    """A document with the passages that several sections have found in it."""
    first, *others = [finding.document.text for finding in findings]
    quotes = (words for finding in findings for words in finding.quotes)
    kept: list[str] = []
    for text in (first, *quotes, *others):
        room = _LONGEST - sum(len(each) + 2 for each in kept)
        if room > 0 and not any(text in each for each in kept):
            kept.append(text[:room])
    document = findings[0].document
    return document.model_copy(
        update={
            "text": "\n\n".join(kept),
            # As they stand in the list, so that a reader finds the document.
            "title": one_line(document.title)[:_LONGEST_TITLE].translate(_IN_TITLES),
            "author": one_line(document.author)[:_LONGEST_TITLE].translate(_IN_TITLES),
            "url": _NOT_IN_URLS.sub(lambda match: quote(match[0]), document.url.strip()),
            "doi": one_line(document.doi).translate(_IN_TITLES),
            "id": one_line(document.id).translate(_IN_TITLES),
        }
    )


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
        body, documents = body_of(self.sections)
        references = list(enumerate(documents, 1))
        summary, unknown = renumbered(self.summary, {number: number for number, _ in references})
        failed = [section for section in self.sections if section.status == "failed"]
        degraded = (
            *self.degraded,
            *(line for section in self.sections for line in section.degraded),
            *not_found("the summary", unknown),
            *(f"{section.title!r} failed: {section.error}" for section in failed),
        )
        listing = "\n".join(starmap(_entry, references)) or "None."
        parts = (
            f"# {literal(self.title)}",
            summary.strip(),
            body,
            f"## {REFERENCES}\n\n{listing}",
        )
        stops: Iterable[Stop] = (stop for section in self.sections for stop in section.stops)
        research = {
            "mode": self.mode,
            "partial": bool(failed),
            "written": all(section.written != "outline" for section in self.sections),
            "outline": [section.title for section in self.sections],
            "sections": [
                {
                    "title": section.title,
                    "status": section.status,
                    "error": section.error,
                    "iterations": section.iterations,
                    "written": section.written,
                    "stop_reasons": list(section.stops),
                }
                for section in self.sections
            ],
            "references": list(starmap(_describe_document, references)),
            "stop_reasons": list(in_order((*self.stops, *stops))),
        }
        return Thought(
            prompt=run.prompt,
            run_id=run.run_id,
            text="\n\n".join(filter(None, parts)) + "\n",
            author=author,
            pre_generation_context=tuple(each.as_document() for each in documents),
            usage=usage,
            metadata={"research": research},
        ).add_degraded(tuple(dict.fromkeys(degraded)))


def body_of(sections: Sequence[ReportSection]) -> tuple[str, tuple[SourceDocument, ...]]:
    """The sections under their headings, numbered throughout, and the documents they cite.

    A document has one number, also when several sections cite it. Numbers follow the order of the
    first mention.
    """
    numbers: dict[str, int] = {}
    findings: dict[str, list[Finding]] = {}
    parts: list[str] = []
    for section in sections:
        known = {finding.number: finding for finding in section.findings}
        for finding in (known[local] for local in cited(section.text) if local in known):
            numbers.setdefault(finding.source, len(numbers) + 1)
            findings.setdefault(finding.source, []).append(finding)
        mapping = {local: numbers[f.source] for local, f in known.items() if f.source in numbers}
        text = renumbered(section.text, mapping)[0]
        if section.status == "failed":
            problem = literal(one_line(str(section.error)))
            text = f"_This section could not be researched: {problem}_"
        parts.append(f"## {section.title}\n\n{text}")
    return "\n\n".join(parts), tuple(map(_merge_passages, findings.values()))


ANSWER = "Answer"
"""The heading of the only section of a report."""
_LONGEST_HEADING = 120
_LONGEST_QUESTION = 2_000
_CITATION = re.compile(r"\[(\^?[\d,; ]+)\]")


def outline_of(plan: ReportPlan, most: int) -> Outline:
    """The outline that a model has planned: its first sections, each under a title of its own."""
    planned = [
        PlannedSection(
            title=_title(s.title) or _title(s.question) or "Section",
            question=one_line(s.question)[:_LONGEST_QUESTION] or s.title,
        )
        for s in plan.sections
    ]
    return _make_outline(_title(plan.title), planned, most)


def outline_of_one(question: str, degraded: str) -> Outline:
    """The whole question as the only section."""
    return Outline(
        sections=(PlannedSection(title=ANSWER, question=question),),
        degraded=(f"{degraded}; the report has one section",),
    )


async def outline_without_model(question: str, most: int) -> Outline:
    """A section for each query of the plan that is made of the question's words."""
    plan = await evidence_plan(question, None)
    planned = [
        PlannedSection(title=_title(query[:1].upper() + query[1:]) or "Findings", question=query)
        for query in plan.queries
    ]
    return _make_outline(_title(question), planned, most, plan.degraded)


def _make_outline(
    title: str, planned: Sequence[PlannedSection], most: int, degraded: str | None = None
) -> Outline:
    """An outline of the first sections that were planned, each under a title of its own."""
    kept = planned[:most]
    titles = unique(
        (section.title for section in kept), "{} ({})", taken=[REFERENCES], key=str.casefold
    )
    dropped = ", ".join(section.title for section in planned[most:])
    remarks = (degraded, dropped and f"planned and left out: {dropped}")
    return Outline(
        title=title,
        sections=tuple(
            section.model_copy(update={"title": name})
            for section, name in zip(kept, titles, strict=True)
        ),
        degraded=tuple(filter(None, remarks)),
    )


def heading(question: str) -> str:
    """A question as the heading of a report, in one line."""
    return _shorten(one_line(question), 200)


def _title(text: str) -> str:
    """A heading of one line, without marks of Markdown around it or citations in it."""
    return _shorten(_CITATION.sub(r"(\1)", one_line(text)).strip("#*_ "), _LONGEST_HEADING)


def _shorten(line: str, most: int) -> str:
    return line if len(line) <= most else f"{whole_words(line, most)}…"
