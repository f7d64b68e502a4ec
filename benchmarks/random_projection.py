"""Vectors without a model: each word has a random direction, and a text the sum of its words'."""

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sifaka.embeddings import Role, Vector

_DIMENSION = 384


class RandomProjection:
    """An `Embedder` that knows nothing of meaning; what it costs to search its vectors is real.

    A text has the same vector in every process.
    """

    model_id = f"random-projection:{_DIMENSION}"

    async def dimension(self) -> int:
        """The number of dimensions."""
        return _DIMENSION

    async def embed(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:
        """A vector of length 1 for each text that has a word."""
        return [_projected(text) for text in texts]


def _projected(text: str) -> Vector:
    total: Any = sum(_direction(word) for word in text.split())
    vector: list[float] = (total / (total @ total) ** 0.5).tolist()
    return vector


@lru_cache(maxsize=10_000)
def _direction(word: str) -> Any:
    import numpy as np

    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(_DIMENSION)
