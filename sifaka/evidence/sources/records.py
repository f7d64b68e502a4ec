"""Search servers, AtomWalker and Europe PMC: an index of records, searched by words."""

import math
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, floor
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
from sifaka.evidence.sources.mediawiki import mapping, objects, words_of
from sifaka.evidence.sources.readers import plain_text
from sifaka.isolation import run_limited
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
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        score = None
    return SourceDocument(
        text=text,
        title=_line(record, fields.title),
        author=", ".join(_words(_value(record, fields.author))),
        url=_link(_line(record, fields.url), doi),
        doi=doi,
        id=_line(record, fields.id),
        adapter=adapter,
        published=when(_value(record, fields.date or fields.timestamp)),
        score=score,
    )


def when(value: object) -> datetime | None:
    """A moment as records have it: ISO 8601, a year, seconds or milliseconds since 1970."""
    if isinstance(value, list | tuple):
        values = cast("list[object]", value)
        return when(values[0]) if values else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return moment(value)
    if value in _YEARS:
        return moment(str(int(value)))
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS else value, UTC)
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
        self.http = HttpClient(
            self.base, adapter=name, headers={"Authorization": authorization or ""}
        )
        self.place = f"{self.base}/{index}"
        """The server and the index."""
        self.dated_by = server.dated_by(fields)
        """The field by which the server itself applies the dates of the filters, if it does."""

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
        return wanted(await self._request_documents(words, size, filters), filters, limit)

    async def health(self) -> Health:
        """Ask for one document."""
        try:
            await self._request_documents("the", 1, ANYTHING)
        except SourceError as error:
            return Health(part=self.place, works=False, found=str(error))
        return Health(part=self.place, works=True, found="answers")

    async def aclose(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    def listed(self, answer: object, *path: str) -> list[Record]:
        """The records of the list that an answer has at a path.

        Raises:
            SourceError: It has none there.
        """
        at = answer
        for name in path:
            at = mapping(at).get(name)
        if not isinstance(at, list):
            raise self.http.endpoint.failure(
                "malformed",
                f"has no {'.'.join(path)} in its answer for {self.index!r}",
                "check that the adapter's URL is of this kind of server",
            )
        return [each for each in objects(cast("object", at)) if each]

    async def _request_documents(
        self, query: str, size: int, filters: SearchFilters
    ) -> Sequence[SourceDocument]:
        try:
            records = await self.server.ask(self, query, size, filters)
        except SourceError as error:
            # With the advice that fits this adapter.
            message, suggestion = {
                "not_found": (
                    f"{self.name}: there is no {self.index!r} at {self.base}",
                    "create it, or correct the adapter's URL",
                ),
                "authentication": (
                    error.message,
                    f"set SIFAKA_ADAPTER_KEYS={self.name}=..., or correct it",
                ),
            }.get(error.error_code, (error.message, error.suggestion))
            raise SourceError(
                message,
                suggestion,
                adapter=self.name,
                error_code=error.error_code,
                retry_after=error.retry_after,
            ) from error
        read = (
            document_of(each, self.fields, adapter=self.name, score=each.get(self.server.scored_by))
            for each in records
        )
        documents = [each for each in read if each is not None]
        if records and not documents:
            raise self.http.endpoint.failure(
                "malformed",
                f"has no record of {self.index!r} with text in "
                f"{' or '.join(map(repr, self.fields.text))}",
                "name the field in the adapter's URL, such as ?text=body",
            )
        return documents


MOST_CHARS = 400
"""Of a query; servers bound the clauses that they make of it, and a URL has an end too."""


def plain_query(query: str) -> str:
    """The query in one line of bounded length, without characters that no server could be sent.

    Returns:
        Whole words only; empty when there is nothing to look for.
    """
    # Control characters, and halves of surrogate pairs; joiners are parts of words in some scripts.
    text = "".join(
        " " if unicodedata.category(c) in {"Cc", "Cs", "Co", "Cn"} else c
        for c in unicodedata.normalize("NFC", query)
    )
    line = whole_words(" ".join(text.split()), MOST_CHARS)
    return line if any(c.isalnum() for c in line) else ""


async def _query_dsl(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search an index of Elasticsearch or OpenSearch, an alias or a pattern such as `papers-*`.

    A record is found that has any of the words. Both servers share the query language:
    https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-multi-match-query and
    https://docs.opensearch.org/latest/query-dsl/full-text/multi-match/
    """
    searched = [*server.fields.text, f"{server.fields.title}^2"]
    wanted: dict[str, object] = {"must": [{"multi_match": {"query": query, "fields": searched}}]}
    written = {
        **({"gte": filters.since.isoformat()} if filters.since else {}),
        **({"lt": filters.until.isoformat()} if filters.until else {}),
    }
    if server.fields.date and written:
        wanted["filter"] = [{"range": {server.fields.date: written}}]
    body = {
        "query": {"bool": wanted},
        "size": size,
        "_source": list(server.fields.names),
        "track_total_hits": False,
    }
    answer = await server.http.ask(f"{server.index}/_search", body=body)
    return [
        {
            **mapping(hit.get("_source")),
            server.fields.id: hit.get("_id"),
            "_score": hit.get("_score"),
        }
        for hit in server.listed(answer, "hits", "hits")
    ]


QUERY_DSL = Server(_query_dsl, scored_by="_score")


async def _meilisearch(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search an index of Meilisearch.

    https://www.meilisearch.com/docs/reference/api/search
    """
    body: dict[str, object] = {
        "q": query,
        "limit": size,
        "attributesToRetrieve": list(server.fields.names),
        "showRankingScore": True,
    }
    written = [
        f"{server.dated_by} {sign} {whole(at.timestamp())}"
        for sign, at, whole in ((">=", filters.since, floor), ("<", filters.until, ceil))
        if at
    ]
    if server.dated_by and written:
        body["filter"] = written
    return server.listed(await server.http.ask(f"indexes/{server.index}/search", body=body), "hits")


# Meilisearch compares numbers only, so dates are seconds since 1970.
MEILISEARCH = Server(_meilisearch, dated_by=attrgetter("timestamp"), scored_by="_rankingScore")
_OPERATORS = re.compile(r'([+\-&|!(){}\[\]^"~*?:\\/])')
_OPERATOR_WORDS = re.compile(r"\b(?:AND|OR|NOT)\b")


async def _solr(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search a core or a collection of Solr; `base` is the URL that its name is appended to.

    https://solr.apache.org/guide/solr/latest/query-guide/edismax-query-parser.html and
    https://solr.apache.org/guide/solr/latest/query-guide/response-writers.html
    """
    terms: dict[str, str] = {
        # Its words, with nothing among them that Solr takes for its own.
        "q": _OPERATORS.sub(r"\\\1", _OPERATOR_WORDS.sub(lambda word: word[0].lower(), query)),
        "defType": "edismax",
        "qf": " ".join((*server.fields.text, f"{server.fields.title}^2")),
        "q.op": "OR",
        "mm": "1",
        "fl": ",".join((*server.fields.names, "score")),
        "rows": str(size),
        "omitHeader": "true",
        "wt": "json",
    }
    if server.fields.date and filters.asks_for_dates:
        since, until = _format_moment(filters.since), _format_moment(filters.until)
        terms["fq"] = f"{server.fields.date}:[{since} TO {until}}}"
    return server.listed(await server.http.ask(f"{server.index}/select", terms), "response", "docs")


def _format_moment(moment: datetime | None) -> str:
    return "*" if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


SOLR = Server(_solr)
WORKS = "atomwalker-works"
"""The index with all papers."""
PAPERS = Fields(text=("abstract",), date="publication_date")


async def atomwalker(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters, *, strategy: str
) -> Sequence[Record]:
    """Search academic papers, by the ScholarSearch API of AtomWalker.

    A document is an abstract, and papers without one are left out. No public reference of that API
    exists. Its shape is taken from the adapter of OpenSift and the answer recorded in that
    adapter's tests (https://github.com/AtomInnoLab/OpenSift, `src/opensift/adapters/atomwalker`,
    `tests/unit/adapters/test_atomwalker.py`).
    """
    params = {"search": query, "search_strategy": strategy, "size": str(size)}
    path = f"api/v1/resource/ScholarSearch/paper/{server.index}"
    papers = [
        {
            **paper,
            "abstract": paper.get("abstract_text") or paper.get("abstract_contents"),
            "publication_date": paper.get("publication_date") or paper.get("year"),
            "url": paper.get("url") or paper.get("source_url"),
        }
        for paper in server.listed(await server.http.ask(path, params), "papers")
    ]
    return [paper for paper in papers if paper["abstract"]]


_SECONDS = 10.0
"""Processor time for reading one answer of Europe PMC."""


async def _europe_pmc(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search the abstracts of Europe PMC, those of PubMed and of preprints among them.

    Any of the telling words of a query is enough: the service wants all that it is given.
    https://europepmc.org/RestfulWebService
    """
    expression = " OR ".join(words_of(query)) or query
    if filters.asks_for_dates:
        since = filters.since.date().isoformat() if filters.since else "1500-01-01"
        until = filters.until.date().isoformat() if filters.until else "3000-01-01"
        expression = f"({expression}) AND (FIRST_PDATE:[{since} TO {until}])"
    params = {"query": expression, "format": "json", "resultType": "core", "pageSize": str(size)}
    results = server.listed(await server.http.ask("search", params), "resultList", "result")
    length = sum(len(str(each.get("abstractText"))) for each in results)
    return await run_limited(_make_articles, results, size=length, seconds=_SECONDS)


def _make_articles(results: Sequence[Record]) -> list[Record]:
    """The results of Europe PMC, whose abstracts and titles are HTML."""
    return [
        {
            "text": plain_text(str(result.get("abstractText") or "")),
            "title": plain_text(str(result.get("title") or "")),
            "author": str(result.get("authorString") or "").rstrip("."),
            "id": f"{source}:{number}",
            "url": f"https://europepmc.org/article/{source}/{number}",
            "doi": result.get("doi"),
            "date": result.get("firstPublicationDate"),
        }
        for result in results
        for source, number in ((result.get("source") or "", result.get("id") or ""),)
    ]


EUROPE_PMC = Server(_europe_pmc)
ARTICLES = Fields(text=("text",), date="date")
