"""Runs in Elasticsearch: shared by processes and machines, with full-text and vector search."""

from sifaka.storage.elasticsearch.store import ElasticsearchStorage

__all__ = ["ElasticsearchStorage"]
