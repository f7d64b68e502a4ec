"""Embedding versions and queries, as every store that keeps vectors does it."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from sifaka.embeddings.protocol import Embedder, Vector
from sifaka.errors import EmbeddingError, StorageError
from sifaka.storage.bm25 import query_words

logger = logging.getLogger(__name__)
_HARMLESS = "text"
"""A text that every model can embed that works at all."""


def meaning(prompt: str, text: str) -> str:
    """The text to embed of a version: its task and its text; empty where there is nothing."""
    return f"{prompt}\n\n{text}".strip()


async def embed_documents(embedder: Embedder, texts: Sequence[str]) -> list[Vector | None]:
    """A vector for each text; None for one that the model refuses although it works.

    Without it, one text that is too long for a model would keep all others from being embedded.

    Raises:
        EmbeddingError: The model does not work, or does not at the moment.
    """
    if not texts:
        return []
    try:
        return [*await embedder.embed(texts, role="document")]
    except EmbeddingError as error:
        if error.retryable:
            raise
        await embedder.embed([_HARMLESS], role="document")
        if len(texts) == 1:
            logger.warning("a text of %d characters is not embedded: %s", len(texts[0]), error)
            return [None]
        half = len(texts) // 2
        return [
            *await embed_documents(embedder, texts[:half]),
            *await embed_documents(embedder, texts[half:]),
        ]


async def embed_words(embedder: Embedder | None, query: str) -> tuple[Vector | None, str]:
    """The vector of a query, and a note for the name of the search if the model failed.

    The vector is None without an embedder, without words in the query, and after a failure.
    """
    if embedder is None or not query_words(query):
        return None, ""
    try:
        return await embed_query(embedder, query), ""
    except EmbeddingError as error:
        return None, without_meaning(error)


async def embed_query(embedder: Embedder, query: str) -> Vector:
    """The vector of a query; any string is one.

    Raises:
        EmbeddingError: The model failed; `without_meaning` then says so.
    """
    # A model cannot read half a surrogate pair.
    (vector,) = await embedder.embed([query.encode(errors="replace").decode()], role="query")
    return vector


def without_meaning(error: EmbeddingError) -> str:
    """The note that a search had to do without the model."""
    return f" (semantic: failed ({' '.join(str(error).split())}))"


@contextmanager
def embedding_failures() -> Generator[None]:
    """Within it, a failure of the model becomes one of the store that may pass by itself.

    Raises:
        StorageError: The model failed.
    """
    try:
        yield
    except EmbeddingError as error:
        raise StorageError(
            f"versions cannot be embedded: {error.message}", error.suggestion, retryable=True
        ) from error
