"""Search servers and the service AtomWalker: an index of records, searched by words."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil, floor
from typing import Literal

from sifaka.evidence.documents import SearchFilters
from sifaka.evidence.sources.records import Fields, Record, RecordAdapter, records_at
from sifaka.evidence.sources.wiki_api import mapping


class QueryDslAdapter(RecordAdapter):
    """Searches an index of Elasticsearch or OpenSearch, an alias or a pattern such as `papers-*`.

    A record is found that has any of the words. Both servers share the query language:
    https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-multi-match-query and
    https://docs.opensearch.org/latest/query-dsl/full-text/multi-match/
    """

    scored_by = "_score"

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[Record]:
        searched = [*self.fields.text, f"{self.fields.title}^2"]
        wanted: dict[str, object] = {
            "must": [{"multi_match": {"query": query, "fields": searched}}]
        }
        written = {
            **({"gte": filters.since.isoformat()} if filters.since else {}),
            **({"lt": filters.until.isoformat()} if filters.until else {}),
        }
        if self.fields.date and written:
            wanted["filter"] = [{"range": {self.fields.date: written}}]
        body = {
            "query": {"bool": wanted},
            "size": size,
            "_source": list(self.fields.names),
            "track_total_hits": False,
        }
        answer = await self._http.post(f"{self.index}/_search", body)
        hits = self._listed(records_at(answer, "hits", "hits"), "hits")
        return [
            {
                **mapping(hit.get("_source")),
                self.fields.id: hit.get("_id"),
                "_score": hit.get("_score"),
            }
            for hit in hits
        ]


class MeilisearchAdapter(RecordAdapter):
    """Searches an index of Meilisearch.

    https://www.meilisearch.com/docs/reference/api/search
    """

    scored_by = "_rankingScore"

    @property
    def dated_by(self) -> str:
        """The field with seconds since 1970: Meilisearch compares numbers only."""
        return self.fields.timestamp

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[Record]:
        asked: dict[str, object] = {
            "q": query,
            "limit": size,
            "attributesToRetrieve": list(self.fields.names),
            "showRankingScore": True,
        }
        written: list[str] = []
        if filters.since:
            written.append(f"{self.dated_by} >= {floor(filters.since.timestamp())}")
        if filters.until:
            written.append(f"{self.dated_by} < {ceil(filters.until.timestamp())}")
        if self.dated_by and written:
            asked["filter"] = written
        answer = await self._http.post(f"indexes/{self.index}/search", asked)
        return self._listed(records_at(answer, "hits"), "hits")


_OPERATORS = re.compile(r'([+\-&|!(){}\[\]^"~*?:\\/])')
_OPERATOR_WORDS = re.compile(r"\b(?:AND|OR|NOT)\b")


class SolrAdapter(RecordAdapter):
    """Searches a core or a collection of Solr; `base` is the URL that its name is appended to.

    https://solr.apache.org/guide/solr/latest/query-guide/edismax-query-parser.html and
    https://solr.apache.org/guide/solr/latest/query-guide/response-writers.html
    """

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[Record]:
        asked: dict[str, str] = {
            "q": _literal(query),
            "defType": "edismax",
            "qf": " ".join((*self.fields.text, f"{self.fields.title}^2")),
            "q.op": "OR",
            "mm": "1",
            "fl": ",".join((*self.fields.names, "score")),
            "rows": str(size),
            "omitHeader": "true",
            "wt": "json",
        }
        if self.fields.date and filters.asks_for_dates:
            since, until = _moment(filters.since), _moment(filters.until)
            asked["fq"] = f"{self.fields.date}:[{since} TO {until}}}"
        answer = await self._http.get(f"{self.index}/select", asked)
        return self._listed(records_at(answer, "response", "docs"), "response.docs")


def _literal(query: str) -> str:
    """The words of a query, with nothing among them that Solr takes for its own."""
    words = _OPERATOR_WORDS.sub(lambda word: word.group().lower(), query)
    return _OPERATORS.sub(r"\\\1", words)


def _moment(moment: datetime | None) -> str:
    return "*" if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


WORKS = "atomwalker-works"
"""The index with all papers."""
Strategy = Literal["fast", "comprehensive"]
_PATH = "api/v1/resource/ScholarSearch/paper"
_ABSTRACTS = ("abstract_text", "abstract_contents")


class AtomWalkerAdapter(RecordAdapter):
    """Searches academic papers, by the ScholarSearch API of AtomWalker.

    A document is an abstract, and papers without one are left out. No public reference of that API
    exists. Its shape is taken from the adapter of OpenSift and the answer recorded in that
    adapter's tests (https://github.com/AtomInnoLab/OpenSift, `src/opensift/adapters/atomwalker`,
    `tests/unit/adapters/test_atomwalker.py`).
    """

    def __init__(
        self, base: str, *, index: str, name: str, strategy: Strategy, authorization: str | None
    ) -> None:
        fields = Fields(text=("abstract",), date="publication_date")
        super().__init__(base, index=index, name=name, fields=fields, authorization=authorization)
        self.strategy: Strategy = strategy

    @property
    def dated_by(self) -> str:
        """None: the service leaves no dates out."""
        return ""

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[Record]:
        asked = {"search": query, "search_strategy": self.strategy, "size": str(size)}
        answer = await self._http.get(f"{_PATH}/{self.index}", asked)
        papers = self._listed(records_at(answer, "papers"), "papers")
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
