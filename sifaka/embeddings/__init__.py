"""Embedders: what turns texts into vectors, for semantic search.

A model is named by a string: `wordllama`, `model2vec:/folder`, `sentence-transformers:/folder`,
or `provider:name` for a provider that PydanticAI knows. No model is ever downloaded, and none is
loaded before it is needed.
"""

from typing import TYPE_CHECKING

from sifaka._internal.lazy import imported_later
from sifaka.embeddings.protocol import Embedder, Role, Vector

if TYPE_CHECKING:
    from sifaka.embeddings.catalogue import open_embedder

__all__ = ["Embedder", "Role", "Vector", "open_embedder"]

__getattr__ = imported_later(__name__, {"open_embedder": "sifaka.embeddings.catalogue"})
