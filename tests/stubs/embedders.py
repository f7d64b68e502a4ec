"""A scripted embedder: it knows a handful of concepts by their words, and no language."""

import re
from collections.abc import Sequence
from math import sqrt

from sifaka.embeddings.protocol import Role, Vector
from sifaka.errors import EmbeddingError

CONCEPTS: tuple[frozenset[str], ...] = (
    frozenset({"car", "automobile", "vehicle", "motorcar"}),
    frozenset({"doctor", "physician", "surgeon", "medic"}),
    frozenset({"happy", "glad", "joyful", "pleased"}),
    frozenset({"short", "brief", "concise", "terse"}),
    frozenset({"money", "price", "cost", "fee"}),
    frozenset({"holiday", "vacation", "leave"}),
)
"""Words that mean about the same: an axis each."""
_NOTHING_KNOWN = {"document": len(CONCEPTS), "query": len(CONCEPTS) + 1}
"""The axes of texts without a known word, so that these are like no query."""
_WORD = re.compile(r"[a-z]+")


class ConceptEmbedder:
    """Counts the words of each concept; texts about the same concepts are close.

    Args:
        model_id: What it calls itself.
        dimension: How many numbers a vector has; those beyond the concepts are 0.
    """

    def __init__(self, model_id: str = "concepts:1", *, dimension: int = len(CONCEPTS) + 2) -> None:
        if dimension < len(CONCEPTS) + 2:
            raise ValueError(f"there are {len(CONCEPTS)} concepts, and two axes more")
        self.model_id = model_id
        self.size = dimension
        self.embedded = 0
        """How many texts it has embedded."""
        self.batches: list[int] = []
        """How many texts it was given each time."""
        self.failure: str | None = None
        """With a message, every call fails with it."""

    async def dimension(self) -> int:
        self._fail()
        return self.size

    async def embed(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:
        self._fail()
        self.embedded += len(texts)
        self.batches.append(len(texts))
        return [self._vector(text, role) for text in texts]

    def _vector(self, text: str, role: Role) -> Vector:
        words = _WORD.findall(text.lower())
        vector = [float(sum(word in concept for word in words)) for concept in CONCEPTS]
        vector += [0.0] * (self.size - len(vector))
        if not any(vector):
            vector[_NOTHING_KNOWN[role]] = 1.0
        length = sqrt(sum(number * number for number in vector))
        return [number / length for number in vector]

    def _fail(self) -> None:
        if self.failure is not None:
            raise EmbeddingError(self.failure)


class PickyEmbedder(ConceptEmbedder):
    """Refuses what is longer than 1,000 characters, and every batch that it is in."""

    async def embed(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:
        if any(len(text) > 1000 for text in texts):
            raise EmbeddingError("a text is too long")
        return await super().embed(texts, role=role)
