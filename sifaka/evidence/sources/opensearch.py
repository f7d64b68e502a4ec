"""OpenSearch: an index, searched by words.

https://docs.opensearch.org/latest/api-reference/search-apis/search/
"""

from sifaka.evidence.sources.query_dsl import QueryDslAdapter


class OpenSearchAdapter(QueryDslAdapter):
    """Searches an index, an alias or a pattern such as `papers-*` of OpenSearch."""
