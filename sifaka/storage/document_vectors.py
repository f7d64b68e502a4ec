"""Embedding texts of which some may be such that the model refuses them."""

import logging
from collections.abc import Sequence

from sifaka.embeddings.protocol import Embedder, Vector
from sifaka.errors import EmbeddingError

logger = logging.getLogger(__name__)
_HARMLESS = "text"
"""What every model can embed that works at all."""


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
