"""Elasticsearch and OpenSearch: an index, searched by words.

They share a query language:
https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-multi-match-query and
https://docs.opensearch.org/latest/query-dsl/full-text/multi-match/
"""

from collections.abc import Mapping, Sequence
from typing import cast

from sifaka.evidence.filters import SearchFilters
from sifaka.evidence.sources.fields import FoundRecord, Record, records_at
from sifaka.evidence.sources.records import RecordAdapter


class QueryDslAdapter(RecordAdapter):
    """Searches an index, an alias or a pattern such as `papers-*`, for any of the words."""

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[FoundRecord]:
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
        answer = await self._http.post_json(f"{self.index}/_search", body)
        return [_found(hit) for hit in self._listed(records_at(answer, "hits", "hits"), "hits")]


def _found(hit: Record) -> FoundRecord:
    source = hit.get("_source")
    record: Record = cast("Record", source) if isinstance(source, Mapping) else {}
    return FoundRecord(record=record, id=str(hit.get("_id") or ""), score=hit.get("_score"))
