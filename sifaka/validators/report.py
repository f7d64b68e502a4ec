"""The sections and the references of a researched report."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, cast

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Document, Thought
from sifaka.text.markdown import Markdown
from sifaka.text.prose import Span, blanked
from sifaka.text.tables import patterns_of
from sifaka.validators.spec import LimitedSpec, Name

# --- the parts of a report ---

UNWRITTEN = "_To be written._"
"""The line in place of a section that is still to be written."""
REFERENCES = "References"
"""The heading of the list of references."""

_PATTERNS = patterns_of(__file__, "report")
_TRAILING = "/.,;:!?'\"*_"
_CLOSING = {")": "(", "]": "[", "}": "{"}


class ReferenceEntry(NamedTuple):
    """One line of the list of references."""

    number: int
    text: str
    place: Span


@dataclass(frozen=True, slots=True)
class ReportLines:
    """The parts of a report."""

    text: str
    headings: list[tuple[str, Span]] = field(default_factory=list[tuple[str, Span]])
    """The titles, and where their lines are."""
    unwritten: list[tuple[str, Span]] = field(default_factory=list[tuple[str, Span]])
    """The titles of sections yet to be written, and the lines in their place."""
    markers: list[tuple[int, Span]] = field(default_factory=list[tuple[int, Span]])
    """The numbers that are cited before the list of references, and where."""
    entries: list[ReferenceEntry] = field(default_factory=list[ReferenceEntry])

    @property
    def beginning(self) -> Span:
        """The first line that says something."""
        at = len(self.text) - len(self.text.lstrip())
        return at, at + len(self.text[at:].partition("\n")[0].rstrip())


def read_report(text: str) -> ReportLines:
    """Take a report apart; what is in code is no part of it."""
    document, report = Markdown(text, 0), ReportLines(text)
    plain, title = blanked(text, document.code), ""
    for block in document.blocks:
        if block.level:
            own, title = text[block.start : block.stop].rstrip(), block.title
            report.headings.append((title, (block.start, block.start + len(own))))
            continue
        in_references = heading_key(title) == heading_key(REFERENCES)
        at = block.start
        for line in text[block.start : block.end].splitlines(keepends=True):
            start, at = at, at + len(line)
            if not plain[start:at].strip():
                continue
            span = start, start + len(line.rstrip())
            if line.strip() == UNWRITTEN:
                report.unwritten.append((title, span))
            elif in_references and (entry := _PATTERNS["entry"].match(line)):
                number = int(entry[1] or entry[2])
                report.entries.append(ReferenceEntry(number, entry[3].rstrip(), span))
            elif not in_references:
                report.markers.extend(_find_citations(plain[start:at], start))
    return report


def heading_key(title: str) -> str:
    """The same for one heading however it is numbered, emphasised or spaced."""
    words = " ".join(title.replace("*", "").replace("`", "").split())
    return _PATTERNS["numbered"].sub("", words).rstrip(".:").casefold()


def _find_citations(line: str, start: int) -> Iterator[tuple[int, Span]]:
    for numbers, (first, end) in markers_in(line):
        if line[end : end + 1] not in {"(", ":"}:  # it is a link
            yield from ((n, (start + first, start + end)) for n in numbers)


def markers_in(plain: str) -> Iterator[tuple[tuple[int, ...], Span]]:
    """The numbers of each marker in a text whose code is blanked, and its place."""
    for match in _PATTERNS["marker"].finditer(plain):
        yield tuple(map(int, re.findall(r"\d+", match[1]))), match.span()


def bare_address(address: str) -> str:
    """An address without what closes the sentence, or the bracket, that it is in."""
    end, left = len(address), Counter(address)
    while end and (
        (last := address[end - 1]) in _TRAILING
        or (last in _CLOSING and left[last] > left[_CLOSING[last]])
    ):
        left[last] -= 1
        end -= 1
    return address[:end]


# --- the validator ---

_MOST_SHOWN = 80
"""Characters of a reference that a message repeats."""


class ReportValidator(LimitedSpec):
    """Checks a report against its outline and the documents that it was written from.

    The headings of the outline are there and none of their sections is still to be written; each
    marker such as `[2]` has its entry under `References`, and each entry names the title or the
    address of one of the run's documents. Of a text without research only the markers are
    checked.
    """

    type: Literal["report"] = "report"
    name: Name = "report"

    def check(self, thought: Thought) -> ValidationResult:
        """Check `thought.text` against the outline and the documents of its run."""
        lines = read_report(thought.text)
        research = cast("Mapping[str, object] | None", thought.metadata.get("research"))
        documents = None if research is None else thought.pre_generation_context
        outline = cast("Sequence[str]", (research or {}).get("outline", ()))
        issues = (
            *_check_sections(lines),
            *_check_outline(lines, outline),
            *_check_markers(lines),
            *_check_references(lines, documents),
            *_check_citations(lines, documents),
        )
        fired = {issue.rule for issue in issues}
        checks = len(outline) + len(lines.markers) + len(lines.entries) + 1
        return ValidationResult(
            passed=not issues,
            score=1.0 if not issues else max(0.0, 1 - len(issues) / (checks + len(issues))),
            message=_summary(issues, len(outline), len(lines.entries)),
            issues=issues,
            suggestions=tuple(advice for rule, advice in _TO_DO.items() if rule in fired),
        )


def _check_sections(lines: ReportLines) -> Iterator[Issue]:
    for title, span in lines.unwritten:
        about = f"the section {title!r}" if title else "a section"
        yield _issue(lines, span, f"{about} is still to be written", rule="unwritten", severity=5)


def _check_outline(lines: ReportLines, outline: Sequence[str]) -> Iterator[Issue]:
    spans = {heading_key(title): span for title, span in lines.headings}
    before = lines.beginning
    for title in outline:
        span = spans.get(heading_key(title))
        if span is None:
            message = f"the heading {title!r} of the outline is missing; it belongs after this line"
            yield _issue(lines, before, message, rule="missing_heading", severity=4)
        before = span or before


def _check_markers(lines: ReportLines) -> Iterator[Issue]:
    numbers = {entry.number for entry in lines.entries}
    for number, span in lines.markers:
        if number not in numbers:
            numbers.add(number)  # reported once
            message = f"[{number}] has no entry under References"
            yield _issue(lines, span, message, rule="unresolved_marker", severity=4)


def _check_references(lines: ReportLines, documents: Sequence[Document] | None) -> Iterator[Issue]:
    if documents is None:
        return
    seen: set[int] = set()
    for entry in lines.entries:
        if entry.number in seen:
            message = f"[{entry.number}] stands twice under References"
            yield _issue(lines, entry.place, message, rule="repeated_entry", severity=3)
        elif not _is_of_document(entry, documents):
            message = (
                f"the reference [{entry.number}] {entry.text[:_MOST_SHOWN]!r} names none of the "
                "documents that were found"
            )
            yield _issue(lines, entry.place, message, rule="unknown_reference", severity=5)
        seen.add(entry.number)


def _check_citations(lines: ReportLines, documents: Sequence[Document] | None) -> Iterator[Issue]:
    if documents and not lines.markers and not lines.unwritten:
        message = "nothing is cited, although there are documents to cite"
        yield _issue(lines, lines.beginning, message, rule="no_citation", severity=4)


def _is_of_document(entry: ReferenceEntry, documents: Sequence[Document]) -> bool:
    """True when each web address of an entry, or without one its title, is a document's."""
    if addresses := set(map(bare_address, _PATTERNS["address"].findall(entry.text))):
        return addresses <= {bare_address("".join(each.url.split())) for each in documents}
    words, *names = (
        " ".join(text.split()).casefold()
        for text in (entry.text, *(d.title or d.url or d.id for d in documents))
    )
    return any(name and name in words for name in names)


def _issue(lines: ReportLines, span: Span, message: str, *, rule: str, severity: int) -> Issue:
    where = span if span[0] < span[1] else None
    return Issue.about(lines.text, where, message, category="report", rule=rule, severity=severity)


_TO_DO: Mapping[str, str] = {
    "unwritten": f"write each section in place of `{UNWRITTEN}`, from the quotes below its heading "
    "and from nothing else, and cite with the [n] of the quote",
    "missing_heading": "put the headings of the outline back, in their order",
    "unresolved_marker": "cite only what stands under `## References`, each entry as `[n] title, "
    "address`",
    "repeated_entry": "give each reference one number",
    "unknown_reference": "name only documents that were found, as they were listed",
    "no_citation": "cite the documents with [n] where they say what the report says",
}


def _summary(issues: Sequence[Issue], sections: int, references: int) -> str:
    if not issues:
        return f"all {sections} sections are written, and {references} references resolve"
    message = "; ".join(issue.message for issue in issues[:3])
    return message if len(issues) <= 3 else f"{message}; and {len(issues) - 3} more"
