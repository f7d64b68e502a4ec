"""The references of a report: one number for each document, over all its sections."""

import re
from collections.abc import Sequence
from urllib.parse import quote

from sifaka._internal.immutable import Frozen
from sifaka.evidence.documents import SourceDocument
from sifaka.record.thought import Document
from sifaka.research.citations import cited, renumbered
from sifaka.research.findings import Finding, one_line
from sifaka.research.state import Section
from sifaka.validators.report_lines import REFERENCES

_LONGEST = 3_000
"""Characters of a document that goes with the report."""
_LONGEST_TITLE = 300
_IN_TITLES = str.maketrans("[]<>`", "()()'")
"""What would be a citation, HTML or code there."""
_NOT_IN_URLS = re.compile(r"[\s<>\"`]")
_WEB = re.compile(r"https?://", re.IGNORECASE)


class Reference(Frozen):
    """A document that a report cites."""

    number: int
    document: SourceDocument
    """Its text is what was found in it."""

    def entry(self) -> str:
        """Its line under the references."""
        document = self.document
        named = [
            document.title,
            # What else there is, such as a script, is to be read and not to be followed.
            f"<{document.url}>" if _WEB.match(document.url) else document.url,
            f"doi:{document.doi}" if document.doi else "",
        ]
        unnamed = f"{document.adapter} {document.id or document.key}".strip()
        what = ". ".join(filter(None, named)) or unnamed
        return f"- [{self.number}] {what}. Retrieved {document.retrieved_at.date().isoformat()}."

    def told(self) -> dict[str, object]:
        """The reference as data."""
        document = self.document
        return {
            "n": self.number,
            "title": document.title,
            "url": document.url,
            "adapter": document.adapter,
            "retrieved_at": document.retrieved_at.isoformat(),
        }

    def as_document(self) -> Document:
        """The document as the run's later phases read it."""
        return self.document.as_document()


def numbered(sections: Sequence[Section]) -> tuple[tuple[str, ...], tuple[Reference, ...]]:
    """The sections' texts with numbers that hold for the whole report, and what they stand for.

    A document has one number, also when several sections cite it. Numbers follow the order of the
    first mention.
    """
    numbers: dict[str, int] = {}
    findings: dict[str, list[Finding]] = {}
    texts: list[str] = []
    for section in sections:
        known = {finding.number: finding for finding in section.findings}
        for local in cited(section.text):
            if local in known:
                source = known[local].source
                numbers.setdefault(source, len(numbers) + 1)
                findings.setdefault(source, []).append(known[local])
        mapping = {local: numbers[f.source] for local, f in known.items() if f.source in numbers}
        texts.append(renumbered(section.text, mapping)[0])
    references = tuple(
        Reference(number=number, document=_together(findings[source]))
        for source, number in numbers.items()
    )
    return tuple(texts), references


def _together(findings: Sequence[Finding]) -> SourceDocument:
    """A document with what several sections have found in it."""
    first, *others = [finding.document.text for finding in findings]
    quotes = (words for finding in findings for words in finding.quotes)
    texts = [first, *quotes, *others]
    kept: list[str] = []
    for text in texts:
        room = _LONGEST - sum(len(each) + 2 for each in kept)
        if room > 0 and not any(text in each for each in kept):
            kept.append(text[:room])
    document = findings[0].document
    return document.model_copy(
        update={
            "text": "\n\n".join(kept),
            # As they stand in the list, so that who reads it finds the document.
            "title": one_line(document.title)[:_LONGEST_TITLE].translate(_IN_TITLES),
            "url": _NOT_IN_URLS.sub(lambda found: quote(found[0]), document.url.strip()),
            "doi": one_line(document.doi).translate(_IN_TITLES),
            "id": one_line(document.id).translate(_IN_TITLES),
        }
    )


def listing(references: Sequence[Reference]) -> str:
    """The references as a section of Markdown."""
    entries = "\n".join(reference.entry() for reference in references)
    return f"## {REFERENCES}\n\n{entries or 'None.'}"
