"""Meilisearch: an index, searched by words.

https://www.meilisearch.com/docs/reference/api/search
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor

from sifaka.evidence.filters import SearchFilters
from sifaka.evidence.sources.fields import Fields, FoundRecord, records_at
from sifaka.evidence.sources.records import RecordAdapter


class MeilisearchAdapter(RecordAdapter):
    """Searches an index of Meilisearch.

    Args:
        base: The server's URL.
        index: The index's uid.
        name: The adapter's name.
        fields: Which fields of its records hold what.
        timestamp: A filterable field with seconds since 1970, by which the server leaves out what
            is too old or too new: it compares numbers only. Without one this is done here.
        authorization: The value of the HTTP header of that name.
        seconds: The deadline of one search.
    """

    def __init__(
        self,
        base: str,
        *,
        index: str,
        name: str,
        fields: Fields | None = None,
        timestamp: str = "",
        authorization: str | None = None,
        seconds: float = 10.0,
    ) -> None:
        given = fields or Fields()
        super().__init__(
            base,
            index=index,
            name=name,
            fields=given if given.date or not timestamp else replace(given, date=timestamp),
            authorization=authorization,
            seconds=seconds,
        )
        self.timestamp = timestamp

    @property
    def filters_dates(self) -> bool:
        """Yes, when it is known which field has the seconds."""
        return bool(self.timestamp)

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[FoundRecord]:
        names = dict.fromkeys([*self.fields.names, *([self.timestamp] if self.timestamp else [])])
        asked: dict[str, object] = {
            "q": query,
            "limit": size,
            "attributesToRetrieve": list(names),
            "showRankingScore": True,
        }
        written: list[str] = []
        if filters.since:
            written.append(f"{self.timestamp} >= {floor(filters.since.timestamp())}")
        if filters.until:
            written.append(f"{self.timestamp} < {ceil(filters.until.timestamp())}")
        if self.timestamp and written:
            asked["filter"] = written
        hits = records_at(await self._http.post_json(f"indexes/{self.index}/search", asked), "hits")
        if hits is None:
            raise self._malformed("hits")
        return [FoundRecord(record=record, score=record.get("_rankingScore")) for record in hits]
