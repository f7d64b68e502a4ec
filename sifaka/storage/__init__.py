"""Stores: where runs are kept, and the catalogue that opens one by its URL.

The stores that need a package of their own are imported when they are first asked for.
"""

from typing import TYPE_CHECKING

from sifaka._internal.lazy import imported_later
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.opening import FORMS, SCHEMES, open_store
from sifaka.storage.protocol import SearchIndex, ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage

if TYPE_CHECKING:
    from sifaka.storage.cached import CachedCheckpointStorage, CachedStorage
    from sifaka.storage.elasticsearch import ElasticsearchIndex
    from sifaka.storage.files import FileStorage
    from sifaka.storage.milvus import MilvusStorage
    from sifaka.storage.redis import RedisStorage
    from sifaka.storage.retention import HybridMemory

_LATER = {
    "CachedCheckpointStorage": "sifaka.storage.cached",
    "CachedStorage": "sifaka.storage.cached",
    "ElasticsearchIndex": "sifaka.storage.elasticsearch",
    "FileStorage": "sifaka.storage.files",
    "HybridMemory": "sifaka.storage.retention",
    "MilvusStorage": "sifaka.storage.milvus",
    "RedisStorage": "sifaka.storage.redis",
}

__all__ = [
    "FORMS",
    "SCHEMES",
    "CachedCheckpointStorage",
    "CachedStorage",
    "ElasticsearchIndex",
    "FileStorage",
    "HybridMemory",
    "MemoryStorage",
    "MilvusStorage",
    "RedisStorage",
    "SQLiteStorage",
    "SearchIndex",
    "ThoughtStore",
    "open_store",
]

__getattr__ = imported_later(__name__, _LATER)
