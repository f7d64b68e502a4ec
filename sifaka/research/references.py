"""Citations in a text, and the references of a report: one number for each document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from sifaka._internal.immutable import Frozen
from sifaka.evidence.documents import SourceDocument
from sifaka.research.state import Finding, ReportSection, one_line
from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span, blanked
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
    return tuple(dict.fromkeys(n for numbers, _ in _markers(text) for n in numbers))


def renumbered(text: str, numbers: Mapping[int, int]) -> tuple[str, tuple[int, ...]]:
    """The text with other numbers, one pair of brackets for each; what is code stays as it is.

    Returns:
        The text without the markers that are not known, and the numbers of those.
    """
    unknown: list[int] = []
    pieces: list[str] = []
    done = 0
    for found, (start, end) in _markers(text):
        unknown += (number for number in found if number not in numbers)
        known = dict.fromkeys(numbers[number] for number in found if number in numbers)
        before = text[done:start]
        link = _LINK.match(text, end)
        done = link.end() if link else end
        # A bracket or a colon right after it would make it a link, or say where all such links go.
        apart = " " if text[done : done + 1] in {"(", ":"} else ""
        marks = "".join(f"[{number}]" for number in known)
        pieces += (before, marks, apart) if marks else (before.rstrip(" \t"),)
    return "".join((*pieces, text[done:])), tuple(dict.fromkeys(unknown))


def literal(text: str) -> str:
    """A quoted text in which nothing is a citation, a link, an image, HTML or code."""
    return _ACTIVE.sub(r"\\\g<0>", text.replace("`", "'"))


def _markers(text: str) -> Iterator[tuple[tuple[int, ...], Span]]:
    return markers_in(blanked(text, code_spans(text)))


class Reference(Frozen):
    """A document that a report cites."""

    number: int
    document: SourceDocument
    """Its text holds the passages that were found."""

    def entry(self) -> str:
        """Its line under the references."""
        document = self.document
        named = [
            document.author.rstrip("."),
            document.title,
            document.published.date().isoformat() if document.published else "",
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
        return f"- [{self.number}] {what}. Retrieved {document.retrieved_at.date().isoformat()}."

    def told(self) -> dict[str, object]:
        """The reference as data."""
        document = self.document
        return {
            "n": self.number,
            "title": document.title,
            "author": document.author,
            "published": document.published.isoformat() if document.published else None,
            "url": document.url,
            "id": document.id,
            "also": list(document.also),
            "adapter": document.adapter,
            "retrieved_at": document.retrieved_at.isoformat(),
        }


def numbered(sections: Sequence[ReportSection]) -> tuple[tuple[str, ...], tuple[Reference, ...]]:
    """The sections' texts with the numbers of the whole report, and the references.

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
    """A document with the passages that several sections have found in it."""
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
            # As they stand in the list, so that a reader finds the document.
            "title": one_line(document.title)[:_LONGEST_TITLE].translate(_IN_TITLES),
            "author": one_line(document.author)[:_LONGEST_TITLE].translate(_IN_TITLES),
            "url": _NOT_IN_URLS.sub(lambda found: quote(found[0]), document.url.strip()),
            "doi": one_line(document.doi).translate(_IN_TITLES),
            "id": one_line(document.id).translate(_IN_TITLES),
        }
    )


def listing(references: Sequence[Reference]) -> str:
    """The references as a section of Markdown."""
    entries = "\n".join(reference.entry() for reference in references)
    return f"## {REFERENCES}\n\n{entries or 'None.'}"
