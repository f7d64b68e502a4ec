"""Retrievers: where documents for models and critics come from."""

from typing import TYPE_CHECKING

from sifaka._internal.lazy import imported_later
from sifaka.retrievers.protocol import Retriever

if TYPE_CHECKING:
    from sifaka.retrievers.cached import (
        Cache,
        CachedRetriever,
        MemoryCache,
        RedisCache,
        SQLiteCache,
    )
    from sifaka.retrievers.in_memory import InMemoryRetriever, MockRetriever
    from sifaka.retrievers.protocol import retrieve_for_thought
    from sifaka.retrievers.thoughts import ThoughtRetriever

_LATER = {
    "Cache": "sifaka.retrievers.cached",
    "CachedRetriever": "sifaka.retrievers.cached",
    "InMemoryRetriever": "sifaka.retrievers.in_memory",
    "MemoryCache": "sifaka.retrievers.cached",
    "MockRetriever": "sifaka.retrievers.in_memory",
    "RedisCache": "sifaka.retrievers.cached",
    "SQLiteCache": "sifaka.retrievers.cached",
    "ThoughtRetriever": "sifaka.retrievers.thoughts",
    "retrieve_for_thought": "sifaka.retrievers.protocol",
}

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

__getattr__ = imported_later(__name__, _LATER)
