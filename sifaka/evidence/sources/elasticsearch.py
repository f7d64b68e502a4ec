"""Elasticsearch and OpenSearch: an index, searched by words.

They share a query language:
https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-multi-match-query and
https://docs.opensearch.org/latest/query-dsl/full-text/multi-match/
"""

from collections.abc import Mapping, Sequence
from typing import cast

from sifaka.evidence.filters import SearchFilters
from sifaka.evidence.sources.fields import Fields, FoundRecord, Record, records_at
from sifaka.evidence.sources.records import RecordAdapter

_TITLE_WEIGHT = 2


class QueryDslAdapter(RecordAdapter):
    """Searches an index, an alias or a pattern such as `papers-*`."""

    @property
    def filters_dates(self) -> bool:
        """Yes, when it is known which field has the dates."""
        return bool(self.fields.date)

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[FoundRecord]:
        body = search_body(query, size, self.fields, filters)
        found = hits_of(await self._http.post_json(f"{self.index}/_search", body))
        if found is None:
            raise self._malformed("hits")
        return found


def search_body(query: str, size: int, fields: Fields, filters: SearchFilters) -> dict[str, object]:
    """The body of a `_search` for any of the words, in the text and the title."""
    searched = [*fields.text, f"{fields.title}^{_TITLE_WEIGHT}"]
    wanted: dict[str, object] = {"must": [{"multi_match": {"query": query, "fields": searched}}]}
    written = {
        **({"gte": filters.since.isoformat()} if filters.since else {}),
        **({"lt": filters.until.isoformat()} if filters.until else {}),
    }
    if fields.date and written:
        wanted["filter"] = [{"range": {fields.date: written}}]
    return {
        "query": {"bool": wanted},
        "size": size,
        "_source": list(fields.names),
        "track_total_hits": False,
    }


def hits_of(answer: object) -> list[FoundRecord] | None:
    """The records of an answer, best first; None when it is none."""
    hits = records_at(answer, "hits", "hits")
    return None if hits is None else [_found(hit) for hit in hits]


def _found(hit: Record) -> FoundRecord:
    source = hit.get("_source")
    record: Record = cast("Record", source) if isinstance(source, Mapping) else {}
    return FoundRecord(record=record, id=str(hit.get("_id") or ""), score=hit.get("_score"))


class ElasticsearchAdapter(QueryDslAdapter):
    """Searches an index, an alias or a pattern such as `papers-*` of Elasticsearch."""


class OpenSearchAdapter(QueryDslAdapter):
    """Searches an index, an alias or a pattern such as `papers-*` of OpenSearch."""
