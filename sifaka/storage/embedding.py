"""Search by meaning beside search by words: embedding, and one ranking made of several.

By rank, because scores of different kinds have no common scale: Cormack, Clarke and Buettcher,
Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods (2009).
"""

import logging
from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from sifaka.embeddings.protocol import Embedder, Vector
from sifaka.errors import EmbeddingError, StorageError
from sifaka.storage.bm25 import query_words
from sifaka.storage.protocol import Hit

logger = logging.getLogger(__name__)


def meaning(prompt: str, text: str) -> str:
    """The text to embed of a version: its task and its text; empty where there is nothing."""
    return f"{prompt}\n\n{text}".strip()


Key = TypeVar("Key", bound=Hashable)


async def embed_documents(embedder: Embedder, texts: Mapping[Key, str]) -> dict[Key, Vector]:
    """A vector for each text, by its key; none for one that the model refuses although it works.

    Without it, one text that is too long for a model would keep all others from being embedded.

    Raises:
        EmbeddingError: The model does not work, or does not at the moment.
    """
    if not texts:
        return {}
    try:
        vectors = await embedder.embed([*texts.values()], role="document")
        return dict(zip(texts, vectors, strict=True))
    except EmbeddingError as error:
        if error.retryable:
            raise
        # Every model that works at all can embed this.
        await embedder.embed(["text"], role="document")
        items = list(texts.items())
        if len(items) == 1:
            size = len(items[0][1])
            logger.warning("a text of %d characters is not embedded: %s", size, error)
            return {}
        half = len(items) // 2
        return {
            **await embed_documents(embedder, dict(items[:half])),
            **await embed_documents(embedder, dict(items[half:])),
        }


async def embed_words(embedder: Embedder | None, query: str) -> tuple[Vector | None, str]:
    """The vector of a query, and a note for the name of the search if the model failed.

    The vector is None without an embedder, without words in the query, and after a failure.
    """
    if embedder is None or not query_words(query):
        return None, ""
    try:
        # A model cannot read half a surrogate pair.
        (vector,) = await embedder.embed([query.encode(errors="replace").decode()], role="query")
    except EmbeddingError as error:
        return None, f" (semantic: failed ({' '.join(str(error).split())}))"
    return vector, ""


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


_K = 60
"""From the paper: how little the first places of one list outweigh places in both."""


def fused_depth(limit: int) -> int:
    """The depth to which rankings are fused when so many hits are asked for.

    Not more than would be shown of each alone: far down a list by words comes what shares but a
    common word with the query, and with `K` = 60 places 50 in two lists beat a first place in one.
    """
    return max(10, limit)


def fuse(*rankings: Sequence[Key]) -> list[tuple[Key, float]]:
    """All keys by the sum of 1 / (60 + rank) in each ranking, with that sum, best first.

    Of equals the one that an earlier ranking has first comes first.
    """
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (_K + rank)
    return sorted(scores.items(), key=lambda scored: scored[1], reverse=True)


def hybrid_name(missing: int) -> str:
    """The name of such a search while so many versions have no vector yet."""
    return f"hybrid{lacking(missing, 'embedded')}"


def lacking(count: int, step: str) -> str:
    """The addition to the name of a search that so many versions are not `step` for yet."""
    versions = "1 version is" if count == 1 else f"{count} versions are"
    return f" ({versions} not {step} yet)" if count else ""


def merge_hits(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Results whose scores cannot be compared, by their ranks; the same version counts once."""
    hits = {(hit.run_id, hit.thought_id): hit for each in reversed(lists) for hit in each}
    ranked = fuse(*([(hit.run_id, hit.thought_id) for hit in each] for each in lists))
    return tuple(hits[key].model_copy(update={"score": score}) for key, score in ranked)
