"""Elasticsearch: an index, searched by words.

https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search
"""

from sifaka.evidence.sources.query_dsl import QueryDslAdapter


class ElasticsearchAdapter(QueryDslAdapter):
    """Searches an index, an alias or a pattern such as `papers-*` of Elasticsearch."""
