"""The common part of the adapters that ask a search server for its records."""

import math
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, cast

from sifaka.errors import SourceError
from sifaka.evidence.documents import (
    ANYTHING,
    SearchFilters,
    SourceDocument,
    host_of,
    moment,
    wanted,
)
from sifaka.evidence.sources.http import HttpClient
from sifaka.storage.protocol import Health
from sifaka.text.prose import whole_words

Record = Mapping[str, Any]
"""A JSON object as a server keeps it."""
_MILLISECONDS = 100_000_000_000
"""Numbers from here on are milliseconds: as seconds they are far in the future."""
_YEARS = range(1000, 3000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The names of fields; a dot leads into an object."""

    text: tuple[str, ...] = ("text",)
    """The fields to quote from; an empty line separates several."""
    title: str = "title"
    author: str = "author"
    url: str = "url"
    doi: str = "doi"
    id: str = "id"
    date: str = ""
    """The time the document was written or last changed; empty when no field has it."""
    timestamp: str = ""
    """The same as seconds since 1970, for a server that filters numbers only."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        named = (*self.text, self.title, self.author, self.url, self.doi, self.id, self.date,
                 self.timestamp)  # fmt: skip
        return tuple(dict.fromkeys(name for name in named if name))


def document_of(
    record: Record, fields: Fields, *, adapter: str, score: object = None
) -> SourceDocument | None:
    """The record as a document; None when it has no text."""
    text = "\n\n".join(part for name in fields.text for part in _words(_value(record, name)))
    if not text:
        return None
    doi = _line(record, fields.doi)
    return SourceDocument(
        text=text,
        title=_line(record, fields.title),
        author=", ".join(_words(_value(record, fields.author))),
        url=_link(_line(record, fields.url), doi),
        doi=doi,
        id=_line(record, fields.id),
        adapter=adapter,
        published=when(_value(record, fields.date or fields.timestamp)),
        score=_number(score),
    )


def records_at(answer: object, *path: str) -> list[Record] | None:
    """The objects of the list that an answer has at a path; None when it has none there."""
    at = answer
    for name in path:
        at = cast("Record", at).get(name) if isinstance(at, Mapping) else None
    if not isinstance(at, list):
        return None
    return [cast("Record", each) for each in cast("list[object]", at) if isinstance(each, Mapping)]


def when(told: object) -> datetime | None:
    """A moment as records have it: ISO 8601, a year, seconds or milliseconds since 1970."""
    if isinstance(told, list | tuple):
        values = cast("list[object]", told)
        return when(values[0]) if values else None
    if isinstance(told, bool) or not isinstance(told, int | float):
        return moment(told)
    if told in _YEARS:
        return moment(str(int(told)))
    try:
        return datetime.fromtimestamp(told / 1000 if abs(told) >= _MILLISECONDS else told, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _value(record: Record, name: str) -> object:
    if name in record or "." not in name:
        return record.get(name)
    outer, _, inner = name.partition(".")
    value = record.get(outer)
    return _value(cast("Record", value), inner) if isinstance(value, Mapping) else None


def _words(value: object) -> list[str]:
    """The texts in a field; some servers keep every field as a list."""
    if isinstance(value, list | tuple):
        return [text for item in cast("list[object]", value) for text in _words(item)]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    text = str(value).strip() if is_number or isinstance(value, str) else ""
    return [text] if text else []


def _line(record: Record, name: str) -> str:
    """The first text in a field, in one line."""
    return " ".join(next(iter(_words(_value(record, name))), "").split())


def _link(url: str, doi: str) -> str:
    """Its web address for people; any other scheme is dropped."""
    if url.lower().startswith(("http://", "https://")) and host_of(url):
        return url
    return f"https://doi.org/{doi}" if doi.startswith("10.") else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


MOST_RESULTS = 100
"""Of one answer, whatever is asked for."""
_SPARE = 4
"""So many times more is asked for where the server cannot filter and we do."""


Ask = Callable[["RecordAdapter", str, int, SearchFilters], Awaitable[Sequence[Record]]]
"""Asks the server of an adapter for so many records that have words of a query."""


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of server."""

    ask: Ask
    dated_by: Callable[[Fields], str] = attrgetter("date")
    """The field by which the server itself applies the dates of the filters; empty if by none."""
    scored_by: str = "score"
    """The field with the score of a record."""


class RecordAdapter:
    """Searches one index of a server.

    Args:
        server: What kind of server it is.
        base: The URL below which it is asked, without credentials.
        index: What the server calls the collection that is searched.
        name: The adapter's name.
        fields: Which fields of its records hold what.
        authorization: The value of the HTTP header of that name.
    """

    def __init__(
        self,
        server: Server,
        base: str,
        *,
        index: str,
        name: str,
        fields: Fields,
        authorization: str | None = None,
    ) -> None:
        self.server = server
        self.base = base.rstrip("/")
        self.index = index
        self.fields = fields
        self.name = name
        headers = {"Authorization": authorization} if authorization else {}
        self.http = HttpClient(self.base, adapter=name, headers=headers)

    @property
    def place(self) -> str:
        """The server and the index."""
        return f"{self.base}/{self.index}"

    @property
    def dated_by(self) -> str:
        """The field by which the server itself applies the dates of the filters, if it does."""
        return self.server.dated_by(self.fields)

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        """At most `limit` documents, best first; see `Adapter`. A query without words finds none.

        Raises:
            SourceError: The server cannot be reached, refuses, answers nonsense, or its records
                have no text under the configured name.
        """
        words = plain_query(query)
        if not words or limit < 1:
            return ()
        unfiltered = filters.sites or (filters.asks_for_dates and not self.dated_by)
        size = min(MOST_RESULTS, limit * _SPARE if unfiltered else limit)
        documents = await self._documents(words, size, filters)
        return wanted(documents, filters, limit)

    async def health(self) -> Health:
        """Ask for one document."""
        try:
            await self._documents("the", 1, ANYTHING)
        except SourceError as error:
            return Health(part=self.place, works=False, found=str(error))
        return Health(part=self.place, works=True, found="answers")

    async def aclose(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    def listed(self, records: Sequence[Record] | None, path: str) -> Sequence[Record]:
        """The records of an answer.

        Raises:
            SourceError: It has none at this path.
        """
        if records is None:
            raise self.malformed(
                f"the answer of {self.place} has no {path}",
                "check that the adapter's URL is of this kind of server",
            )
        return records

    def malformed(self, what: str, hint: str) -> SourceError:
        """The error of an answer that makes no sense."""
        return SourceError(f"{self.name}: {what}", hint, adapter=self.name, code="malformed")

    async def _documents(
        self, query: str, size: int, filters: SearchFilters
    ) -> Sequence[SourceDocument]:
        try:
            found = await self.server.ask(self, query, size, filters)
        except SourceError as error:
            raise self._explained(error) from error
        read = [
            document_of(each, self.fields, adapter=self.name, score=each.get(self.server.scored_by))
            for each in found
        ]
        documents = [each for each in read if each is not None]
        if found and not documents:
            named = " or ".join(map(repr, self.fields.text))
            raise self.malformed(
                f"no record of {self.place} has text in {named}",
                "name the field in the adapter's URL, such as ?text=body",
            )
        return documents

    def _explained(self, error: SourceError) -> SourceError:
        """The same with what is to be done about it here."""
        message, suggestion = {
            "not_found": (
                f"{self.name}: there is no {self.index!r} at {self.base}",
                "create it, or correct the adapter's URL",
            ),
            "authentication": (
                error.message,
                f"set SIFAKA_ADAPTER_KEYS={self.name}=..., or correct it",
            ),
        }.get(error.code or "", (error.message, error.suggestion))
        return SourceError(
            message,
            suggestion,
            adapter=self.name,
            code=error.code,
            retry_after=error.retry_after,
        )


MOST_CHARS = 400
"""Of a query; servers bound the clauses that they make of it, and a URL has an end too."""


def plain_query(query: str) -> str:
    """The query in one line of bounded length, without characters that no server could be sent.

    Returns:
        Whole words only; empty when there is nothing to look for.
    """
    shown = "".join(c if _is_text(c) else " " for c in unicodedata.normalize("NFC", query))
    line = whole_words(" ".join(shown.split()), MOST_CHARS)
    return line if any(c.isalnum() for c in line) else ""


def _is_text(character: str) -> bool:
    # Control characters, and halves of surrogate pairs; joiners are parts of words in some scripts.
    return unicodedata.category(character) not in {"Cc", "Cs", "Co", "Cn"}
