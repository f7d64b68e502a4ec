"""Meilisearch: an index, searched by words.

https://www.meilisearch.com/docs/reference/api/search
"""

from collections.abc import Sequence
from math import ceil, floor

from sifaka.evidence.filters import SearchFilters
from sifaka.evidence.sources.fields import FoundRecord, records_at
from sifaka.evidence.sources.records import RecordAdapter


class MeilisearchAdapter(RecordAdapter):
    """Searches an index of Meilisearch."""

    @property
    def dated_by(self) -> str:
        """The field with seconds since 1970: Meilisearch compares numbers only."""
        return self.fields.timestamp

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[FoundRecord]:
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
        answer = await self._http.post_json(f"indexes/{self.index}/search", asked)
        hits = self._listed(records_at(answer, "hits"), "hits")
        return [FoundRecord(record=record, score=record.get("_rankingScore")) for record in hits]
