"""OpenSearch: an index, searched by words.

https://docs.opensearch.org/latest/api-reference/search-apis/search/
"""

from collections.abc import Sequence

from sifaka.evidence.adapters.fields import Found
from sifaka.evidence.adapters.query_dsl import hits_of, search_body
from sifaka.evidence.adapters.records import RecordAdapter
from sifaka.evidence.filters import SearchFilters


class OpenSearchAdapter(RecordAdapter):
    """Searches an index, an alias or a pattern such as `papers-*` of OpenSearch."""

    @property
    def filters_dates(self) -> bool:
        """Yes, when it is known which field has the dates."""
        return bool(self.fields.date)

    async def _found(self, query: str, size: int, filters: SearchFilters) -> Sequence[Found]:
        body = search_body(query, size, self.fields, filters)
        found = hits_of(await self._http.post_json(f"{self.index}/_search", body))
        if found is None:
            raise self._malformed("hits")
        return found
