"""Search servers, AtomWalker and Europe PMC: an index of records, searched by words."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil, floor
from operator import attrgetter

from sifaka.evidence.documents import SearchFilters
from sifaka.evidence.sources.html import plain_text
from sifaka.evidence.sources.records import Fields, Record, RecordAdapter, Server, records_at
from sifaka.evidence.sources.wiki_api import mapping, words_of
from sifaka.isolation import run_limited


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
    answer = await server.http.post(f"{server.index}/_search", body)
    hits = server.listed(records_at(answer, "hits", "hits"), "hits")
    return [
        {
            **mapping(hit.get("_source")),
            server.fields.id: hit.get("_id"),
            "_score": hit.get("_score"),
        }
        for hit in hits
    ]


QUERY_DSL = Server(_query_dsl, scored_by="_score")


async def _meilisearch(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search an index of Meilisearch.

    https://www.meilisearch.com/docs/reference/api/search
    """
    asked: dict[str, object] = {
        "q": query,
        "limit": size,
        "attributesToRetrieve": list(server.fields.names),
        "showRankingScore": True,
    }
    written: list[str] = []
    if filters.since:
        written.append(f"{server.dated_by} >= {floor(filters.since.timestamp())}")
    if filters.until:
        written.append(f"{server.dated_by} < {ceil(filters.until.timestamp())}")
    if server.dated_by and written:
        asked["filter"] = written
    answer = await server.http.post(f"indexes/{server.index}/search", asked)
    return server.listed(records_at(answer, "hits"), "hits")


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
    asked: dict[str, str] = {
        "q": _literal(query),
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
        since, until = _moment(filters.since), _moment(filters.until)
        asked["fq"] = f"{server.fields.date}:[{since} TO {until}}}"
    answer = await server.http.get(f"{server.index}/select", asked)
    return server.listed(records_at(answer, "response", "docs"), "response.docs")


def _literal(query: str) -> str:
    """The words of a query, with nothing among them that Solr takes for its own."""
    words = _OPERATOR_WORDS.sub(lambda word: word.group().lower(), query)
    return _OPERATORS.sub(r"\\\1", words)


def _moment(moment: datetime | None) -> str:
    return "*" if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


SOLR = Server(_solr)
WORKS = "atomwalker-works"
"""The index with all papers."""
PAPERS = Fields(text=("abstract",), date="publication_date")
_PATH = "api/v1/resource/ScholarSearch/paper"
_ABSTRACTS = ("abstract_text", "abstract_contents")


async def atomwalker(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters, *, strategy: str
) -> Sequence[Record]:
    """Search academic papers, by the ScholarSearch API of AtomWalker.

    A document is an abstract, and papers without one are left out. No public reference of that API
    exists. Its shape is taken from the adapter of OpenSift and the answer recorded in that
    adapter's tests (https://github.com/AtomInnoLab/OpenSift, `src/opensift/adapters/atomwalker`,
    `tests/unit/adapters/test_atomwalker.py`).
    """
    asked = {"search": query, "search_strategy": strategy, "size": str(size)}
    answer = await server.http.get(f"{_PATH}/{server.index}", asked)
    papers = server.listed(records_at(answer, "papers"), "papers")
    return [_paper_of(paper) for paper in papers if _abstract(paper)]


def _abstract(paper: Record) -> object:
    """It stands in one of two fields."""
    return next((paper[name] for name in _ABSTRACTS if paper.get(name)), None)


def _paper_of(paper: Record) -> Record:
    """A paper; it may have a date, or only a year."""
    return {
        **paper,
        "abstract": _abstract(paper),
        "publication_date": paper.get("publication_date") or paper.get("year"),
        "url": paper.get("url") or paper.get("source_url"),
    }


_SECONDS = 10.0
"""Processor time for reading one answer of Europe PMC."""


async def _europe_pmc(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search the abstracts of Europe PMC, those of PubMed and of preprints among them.

    Any of the telling words of a query is enough: the service wants all that it is given.
    https://europepmc.org/RestfulWebService
    """
    asked = " OR ".join(words_of(query)) or query
    if filters.asks_for_dates:
        since = filters.since.date().isoformat() if filters.since else "1500-01-01"
        until = filters.until.date().isoformat() if filters.until else "3000-01-01"
        asked = f"({asked}) AND (FIRST_PDATE:[{since} TO {until}])"
    told = {"query": asked, "format": "json", "resultType": "core", "pageSize": str(size)}
    answer = await server.http.get("search", told)
    results = server.listed(records_at(answer, "resultList", "result"), "resultList.result")
    length = sum(len(str(each.get("abstractText"))) for each in results)
    return await run_limited(_articles, results, size=length, seconds=_SECONDS)


def _articles(results: Sequence[Record]) -> list[Record]:
    """The results of Europe PMC, whose abstracts and titles are HTML."""
    articles: list[Record] = []
    for result in results:
        source, number = str(result.get("source") or ""), str(result.get("id") or "")
        articles.append(
            {
                "text": plain_text(str(result.get("abstractText") or "")),
                "title": plain_text(str(result.get("title") or "")),
                "author": str(result.get("authorString") or "").rstrip("."),
                "id": f"{source}:{number}",
                "url": f"https://europepmc.org/article/{source}/{number}",
                "doi": result.get("doi"),
                "date": result.get("firstPublicationDate"),
            }
        )
    return articles


EUROPE_PMC = Server(_europe_pmc)
ARTICLES = Fields(text=("text",), date="date")
