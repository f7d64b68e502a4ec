"""Retrievers: where documents for models and critics come from."""

from sifaka.retrievers.cached import CachedRetriever
from sifaka.retrievers.caches import Cache, MemoryCache
from sifaka.retrievers.for_thought import retrieve_for_thought
from sifaka.retrievers.in_memory import InMemoryRetriever
from sifaka.retrievers.mock import MockRetriever
from sifaka.retrievers.protocol import Retriever
from sifaka.retrievers.redis_cache import RedisCache
from sifaka.retrievers.sqlite_cache import SQLiteCache
from sifaka.retrievers.thoughts import ThoughtRetriever

__all__ = [
    "Cache",
    "CachedRetriever",
    "InMemoryRetriever",
    "MemoryCache",
    "MockRetriever",
    "RedisCache",
    "Retriever",
    "SQLiteCache",
    "ThoughtRetriever",
    "retrieve_for_thought",
]
