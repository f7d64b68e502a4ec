"""Search in Elasticsearch or OpenSearch."""

from sifaka.storage.elasticsearch.index import ElasticsearchIndex

__all__ = ["ElasticsearchIndex"]
