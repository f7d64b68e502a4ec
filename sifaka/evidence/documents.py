"""Documents of sources, in the one form that every adapter returns, and filters for them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Self, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from sifaka._internal.immutable import Frozen
from sifaka.record.thought import Document

GIVEN = "given"
"""The adapter of documents that came with the question or the text."""


def in_a_zone(value: datetime) -> datetime:
    """The same moment; in UTC where it has no time zone."""
    return value if value.tzinfo else value.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(in_a_zone)]
"""A moment, in UTC where it has no time zone."""


class SourceDocument(Frozen):
    """A document that was found somewhere."""

    text: str
    """Plain text; of a page only what an adapter's limit lets through."""
    title: str = ""
    author: str = ""
    """Its authors as the source names them; empty when it does not."""
    url: str = ""
    doi: str = ""
    id: str = ""
    """The identifier that the source gives it."""
    adapter: str = ""
    """The name of the adapter that found it."""
    also: tuple[str, ...] = ()
    """The further places that have the same content: addresses, or adapters with identifiers."""
    published: Moment | None = None
    """The time it was written or last changed; None when the source does not say."""
    retrieved_at: Moment = Field(default_factory=lambda: datetime.now(UTC))
    score: float | None = None
    """As its source ranks it; comparable within one answer of one source only."""

    @property
    def place(self) -> str:
        """Its address; without one the adapter and the identifier, which may be a path."""
        return self.url or (f"doi:{self.doi}" if self.doi else f"{self.adapter} {self.id}".strip())

    @property
    def day(self) -> str:
        """The day on which it was published; empty when the source does not say."""
        return self.published.date().isoformat() if self.published else ""

    @property
    def key(self) -> str:
        """The same for the same words of the same document, wherever it was found."""
        return _digest(self.url or self.doi or self.id, self.title, self.text)

    @classmethod
    def of(cls, document: Document, *, adapter: str = GIVEN) -> "SourceDocument":
        """A document that a retriever found, or that was given."""
        also: object = document.metadata.get("also")
        places = cast("Sequence[object]", also) if isinstance(also, list | tuple) else ()
        return cls(
            text=document.text,
            title=document.title,
            author=str(document.metadata.get("author") or ""),
            url=document.url,
            doi=str(document.metadata.get("doi") or ""),
            id=document.id,
            adapter=adapter,
            published=moment(
                document.metadata.get("published") or document.metadata.get("created_at")
            ),
            score=document.score,
            also=tuple(map(str, places)),
        )

    def as_document(self) -> Document:
        """The document as models, critics and records have it."""
        metadata: dict[str, object] = {
            "adapter": self.adapter,
            "retrieved_at": self.retrieved_at.isoformat(),
            "published": self.published and self.published.isoformat(),
            "author": self.author,
            "doi": self.doi,
            "also": list(self.also),
        }
        return Document(
            text=self.text,
            id=self.id or self.key,
            title=self.title,
            url=self.url,
            score=self.score,
            metadata={name: value for name, value in metadata.items() if value},
        )


# It is asked for with each claim, and a source may be long.
@lru_cache(maxsize=64)
def _digest(name: str, title: str, text: str) -> str:
    return sha256(f"{name}\n{title}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def moment(value: object) -> datetime | None:
    """A time as sources write it: ISO 8601, or a year; None when it is none. UTC where unsaid."""
    if isinstance(value, datetime):
        return in_a_zone(value)
    text = str(value or "").strip()
    if text.isdigit() and len(text) == 4 and text != "0000":
        text = f"{text}-01-01"
    try:
        return in_a_zone(datetime.fromisoformat(text))
    except ValueError:
        return None


_EACH = 3
"""Parts of one file that come before the parts of others."""


def spread(documents: Iterable[SourceDocument]) -> Iterator[SourceDocument]:
    """The documents in their order, but no more than three parts of a file before other files.

    Adapters write the part of a file after a `#` at the end of its identifier.
    """
    count: Counter[tuple[str, str]] = Counter()
    later: list[SourceDocument] = []
    for document in documents:
        file, mark, _ = document.id.partition("#")
        count[document.adapter, file] += 1
        if mark and count[document.adapter, file] > _EACH:
            later.append(document)
        else:
            yield document
    yield from later


MOST_CHARS = 100_000
"""Characters of a document's text that are kept."""
_MOST_TITLE = 500
_MOST_NAME = 2_000
"""Characters of a URL or an identifier."""
# Control characters but tabs and line ends, halves of characters, and what cannot be seen and only
# breaks words apart: soft hyphens, zero-width spaces, byte-order marks.
_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]"
)
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029]")


def clean(document: SourceDocument, adapter: str) -> SourceDocument:
    """The document as it may be kept, shown and quoted: of bounded length, in plain Unicode.

    Its adapter is the one that was asked, whatever it says itself.
    """
    return document.model_copy(
        update={
            "text": plain(document.text[: 2 * MOST_CHARS])[:MOST_CHARS].strip(),
            "title": plain_line(document.title, _MOST_TITLE),
            "author": plain_line(document.author, _MOST_TITLE),
            "url": plain_line(document.url, _MOST_NAME),
            "doi": plain_line(document.doi, _MOST_NAME),
            "id": plain_line(document.id, _MOST_NAME),
            "adapter": adapter,
        }
    )


def plain(text: str) -> str:
    """The text without what cannot be stored, sent or seen; lines end with a line feed."""
    # Ten times as fast as the expressions, and true of most texts.
    if text.replace("\n", "").isprintable():
        return text
    return _UNWANTED.sub("", _LINE_END.sub("\n", text))


def plain_line(text: str, longest: int) -> str:
    """The same on one line of at most `longest` characters."""
    return " ".join(plain(text[: 2 * longest]).split())[:longest]


class SearchFilters(Frozen):
    """Filters on documents; they are applied to every answer, whatever its source has filtered.

    Raises:
        ValueError: They contradict each other, so that nothing could be found.
    """

    since: Moment | None = None
    """Written or last changed at this moment or later. A document without a date is left out."""
    until: Moment | None = None
    """Written or last changed before this moment. A document without a date is left out."""
    sites: tuple[str, ...] = ()
    """Hosts such as `en.wikipedia.org`, or URLs of which the host counts; their subdomains are
    included. Empty means any."""

    @field_validator("sites")
    @classmethod
    def _as_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        hosts = tuple(host_of(site if "//" in site else f"//{site}") for site in value)
        for site, host in zip(value, hosts, strict=True):
            if not host:
                raise ValueError(f"{site[:60]!r} is no host such as en.wikipedia.org")
        return hosts

    @model_validator(mode="after")
    def _leave_something(self) -> Self:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError(
                f"since {self.since.isoformat()} is not before until {self.until.isoformat()}"
            )
        return self

    @property
    def asks_for_dates(self) -> bool:
        """True when a document without a date is left out."""
        return self.since is not None or self.until is not None

    def admits(self, document: SourceDocument) -> bool:
        """True when a document passes the filters."""
        written, host = document.published, host_of(document.url)
        is_there = any(host == site or host.endswith(f".{site}") for site in self.sites)
        is_in_time = (
            not self.asks_for_dates
            if written is None
            else (self.since is None or written >= self.since)
            and (self.until is None or written < self.until)
        )
        return is_in_time and (is_there or not self.sites)


ANYTHING = SearchFilters()


def host_of(url: str) -> str:
    """The host of a URL in lower case; empty when it has none."""
    try:
        return (urlsplit(url.strip()).hostname or "").strip(".")
    except ValueError:  # it is no URL
        return ""


def wanted(
    documents: Iterable[SourceDocument], filters: SearchFilters, limit: int
) -> tuple[SourceDocument, ...]:
    """At most `limit` documents that the filters admit, in their order.

    Where dates are asked for and there is room, those follow that only lack a date. The search
    leaves them out, and can tell how many there were.
    """
    anytime = filters.model_copy(update={"since": None, "until": None})
    matches = [
        each
        for each in documents
        if filters.admits(each) or (each.published is None and anytime.admits(each))
    ]
    return tuple(sorted(matches, key=lambda each: not filters.admits(each)))[: max(0, limit)]
