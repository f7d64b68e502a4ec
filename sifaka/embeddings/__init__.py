"""Embedders: what turns texts into vectors, for semantic search.

A model is named by a string: `model2vec:/folder`, `fastembed:/folder`,
`sentence-transformers:/folder`, or `provider:name` for a provider that PydanticAI knows. No model
is ever downloaded, and none is loaded before it is needed.
"""

from sifaka.embeddings.opening import open_embedder
from sifaka.embeddings.protocol import Embedder, Role, Vector

__all__ = ["Embedder", "Role", "Vector", "open_embedder"]
