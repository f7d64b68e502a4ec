"""The fields of a server's records, and records as documents."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlsplit

from sifaka.evidence.documents import SourceDocument, moment

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
        named = (*self.text, self.title, self.url, self.doi, self.id, self.date, self.timestamp)
        return tuple(dict.fromkeys(name for name in named if name))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRecord:
    """A record among the results of a search."""

    record: Record
    id: str = ""
    """The server's identifier, where that is no field of the record."""
    score: object = None


def document_of(found: FoundRecord, fields: Fields, *, adapter: str) -> SourceDocument | None:
    """The record as a document; None when it has no text."""
    record = found.record
    text = "\n\n".join(part for name in fields.text if (part := _text(_value(record, name))))
    if not text:
        return None
    doi = _first(_value(record, fields.doi))
    return SourceDocument(
        text=text,
        title=_first(_value(record, fields.title)),
        url=_link(_first(_value(record, fields.url)), doi),
        doi=doi,
        id=found.id or _first(_value(record, fields.id)),
        adapter=adapter,
        published=when(_value(record, fields.date or fields.timestamp)),
        score=_number(found.score),
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


def _text(value: object) -> str:
    """A field's words; some servers keep every field as a list."""
    if isinstance(value, list | tuple):
        return "\n\n".join(part for item in cast("list[object]", value) if (part := _text(item)))
    if isinstance(value, str):
        return value.strip()
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else ""


def _first(value: object) -> str:
    if isinstance(value, list | tuple):
        values = cast("list[object]", value)
        return _first(values[0]) if values else ""
    return " ".join(_text(value).split())


def _link(url: str, doi: str) -> str:
    """Its web address for people; any other scheme is dropped."""
    try:
        known = urlsplit(url).scheme.lower() in {"http", "https"}
    except ValueError:
        known = False
    if known:
        return url
    return f"https://doi.org/{doi}" if doi.startswith("10.") else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
