"""Search in Elasticsearch or OpenSearch."""

from sifaka.storage.elasticsearch.index import ElasticsearchIndex
from sifaka.storage.elasticsearch.store import ElasticsearchStorage

__all__ = ["ElasticsearchIndex", "ElasticsearchStorage"]
