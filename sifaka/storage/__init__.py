"""Stores: where runs are kept, and the catalogue that opens one by its URL.

The stores that need a package of their own are imported when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sifaka.storage.memory import MemoryStorage
from sifaka.storage.opening import FORMS, SCHEMES, open_store
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage

if TYPE_CHECKING:
    from sifaka.storage.checkpoints import CachedCheckpointStorage
    from sifaka.storage.elasticsearch import ElasticsearchStorage
    from sifaka.storage.files import FileStorage
    from sifaka.storage.hybrid import HybridMemory
    from sifaka.storage.milvus import MilvusStorage
    from sifaka.storage.redis import RedisStorage
    from sifaka.storage.tiers import CachedStorage

_LATER = {
    "CachedCheckpointStorage": "checkpoints",
    "CachedStorage": "tiers",
    "ElasticsearchStorage": "elasticsearch",
    "FileStorage": "files",
    "HybridMemory": "hybrid",
    "MilvusStorage": "milvus",
    "RedisStorage": "redis",
}

__all__ = [
    "FORMS",
    "SCHEMES",
    "CachedCheckpointStorage",
    "CachedStorage",
    "ElasticsearchStorage",
    "FileStorage",
    "HybridMemory",
    "MemoryStorage",
    "MilvusStorage",
    "RedisStorage",
    "SQLiteStorage",
    "ThoughtStore",
    "open_store",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
