"""The findings of a section: documents with the words that answer its question."""

from collections.abc import Iterable

from pydantic import field_serializer

from sifaka._internal.immutable import Frozen
from sifaka.evidence.classify import ranked
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import Classification, Evidence, Judgement
from sifaka.evidence.passages import excerpt, without_heading
from sifaka.evidence.ranking import identities

LONGEST = 1_500
"""Characters that are kept of a document: its quotes and the passages nearest to the query."""
_LONGEST_QUOTE = 400
_MOST_QUOTES = 4
_SHOWN = 600
"""Characters of a passage that stands in for quotes."""


class Finding(Frozen):
    """A document that says something about the question, with the words that do."""

    number: int
    """Its number in its section, from 1; drafts cite it by that."""
    document: SourceDocument
    """Its text is cut to the relevant passages."""
    source: str
    """The same for the same document, for any part of its text that was found."""
    query: str
    """The query that found it."""
    quotes: tuple[str, ...] = ()
    """Words that stand in the document; none while it is not verified."""
    classification: Classification
    score: float = 0.0

    @field_serializer("score")
    def _short(self, score: float) -> float:
        return round(score, 6)

    @classmethod
    def of(cls, number: int, evidence: Evidence, query: str) -> "Finding":
        """The finding that a document makes which was not rejected."""
        document = evidence.document
        quotes = _quotes(evidence)
        passages = excerpt(document.text, " ".join((query, *quotes)), LONGEST)
        missing = [quote for quote in quotes if quote not in passages]
        return cls(
            number=number,
            document=document.model_copy(update={"text": "\n\n".join((passages, *missing))}),
            source=source_of(document),
            query=query,
            quotes=quotes,
            classification=evidence.classification,
            score=evidence.score,
        )

    @property
    def words(self) -> tuple[str, ...]:
        """Its quotes, or the passage nearest to the query."""
        shown = excerpt(self.document.text, self.query, _SHOWN)
        return self.quotes or (without_heading(shown),)


def source_of(document: SourceDocument) -> str:
    """The identity of a document, the same for all queries that find it."""
    return min(identities(document), default=f"key:{document.key}")


def listed(findings: Iterable[Finding], most: int = 40) -> str:
    """The best findings as a prompt shows them, each under its number."""
    return "\n\n".join(map(_entry, sorted(ranked(findings)[:most], key=lambda each: each.number)))


def _entry(finding: Finding) -> str:
    document = finding.document
    dated = f", {document.published.date().isoformat()}" if document.published else ""
    unverified = ", not verified" if finding.classification == "unverified" else ""
    head = f"[{finding.number}] {one_line(document.title or document.url)[:200]}{dated}{unverified}"
    return "\n".join((head, *(f'- "{one_line(words)}"' for words in finding.words)))


def one_line(text: str) -> str:
    """The words of a text without its line breaks."""
    return " ".join(text.split())


def _quotes(evidence: Evidence) -> tuple[str, ...]:
    """The quotes that speak for the document, the most telling first, each once."""
    for_it: tuple[Judgement, ...] = ("support", "somewhat_support")
    found = [
        quote
        for judgement in for_it
        for each in evidence.assessments
        if each.judgement == judgement
        for quote in each.quotes
        if len(quote) <= _LONGEST_QUOTE
    ]
    return tuple(dict.fromkeys(map(without_heading, found)))[:_MOST_QUOTES]
