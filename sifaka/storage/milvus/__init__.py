"""Search in Milvus: a server, or a Milvus Lite folder of one process."""

from sifaka.storage.milvus.index import MilvusIndex, MilvusStorage

__all__ = ["MilvusIndex", "MilvusStorage"]
