"""Search in Milvus: a server, or a Milvus Lite folder of one process."""

from sifaka.storage.milvus.index import MilvusIndex
from sifaka.storage.milvus.store import MilvusStorage

__all__ = ["MilvusIndex", "MilvusStorage"]
