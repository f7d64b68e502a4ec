"""Search in Elasticsearch or OpenSearch."""

from sifaka.storage.elasticsearch.index import ElasticsearchIndex, ElasticsearchStorage

__all__ = ["ElasticsearchIndex", "ElasticsearchStorage"]
