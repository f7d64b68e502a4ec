"""The protocol of embedders, and the base of all: batches, and checked vectors."""

from collections.abc import Awaitable, Callable, Sequence
from math import hypot, isfinite, sqrt
from typing import Literal, Protocol

from sifaka.errors import EmbeddingError

Role = Literal["document", "query"]
"""Some models embed what is searched for otherwise than what is found."""
Vector = Sequence[float]
PACKAGED = "wordllama"
"""The model that a package of this name brings along; it needs no folder."""


class Embedder(Protocol):
    """Turns texts into vectors whose cosine similarity tells how close their meanings are."""

    @property
    def model_id(self) -> str:
        """The id that is stored with every vector: vectors of different ids are never compared."""
        ...

    async def dimension(self) -> int:
        """The length of a vector; the first call may load or ask the model.

        Raises:
            EmbeddingError: The model could not be used.
        """
        ...

    async def embed(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:
        """A vector for each text, in their order, each of length 1.

        Raises:
            EmbeddingError: The model failed, or answered with vectors of another dimension.
        """
        ...


BATCH = 64
"""Texts a call."""
MOST_CHARS = 6000
"""Characters of a text that are embedded; models and providers have limits of their own below."""

Ask = Callable[[Sequence[str], Role], Awaitable[Sequence[Vector]]]
"""Asks a model for the vectors of some texts, raw as it makes them."""


class ModelEmbedder:
    """An `Embedder` over anything that makes a vector of a text.

    Args:
        model_id: What is kept with every vector.
        ask: The model; it raises `EmbeddingError` and nothing else.
    """

    def __init__(self, model_id: str, ask: Ask) -> None:
        self.model_id = model_id
        """The id that is stored with every vector."""
        self._ask = ask
        self._dimension: int | None = None

    async def dimension(self) -> int:
        """The length of a vector; the first call embeds a word to find out."""
        if self._dimension is None:
            (vector,) = await self.embed(["dimension"], role="document")
            return len(vector)
        return self._dimension

    async def embed(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:
        """A vector of length 1 for each text, in their order; see `Embedder.embed`.

        A text in which the model knows no word points equally in all directions, so that it is
        close to nothing.
        """
        vectors: list[Vector] = []
        for begin in range(0, len(texts), BATCH):
            batch = [_clean_text(text) for text in texts[begin : begin + BATCH]]
            vectors += self._check_vectors(await self._ask(batch, role), len(batch))
        return vectors

    def _check_vectors(self, vectors: Sequence[Vector], expected: int) -> list[Vector]:
        if len(vectors) != expected:
            raise EmbeddingError(
                f"{self.model_id}: {len(vectors)} vectors for {expected} texts",
                "check that this is an embedding model",
            )
        for vector in vectors:
            self._dimension = self._dimension or len(vector)
            if len(vector) != self._dimension or not vector:
                raise EmbeddingError(
                    f"{self.model_id}: a vector of {len(vector)} numbers, "
                    f"the others have {self._dimension}",
                    "give each model a name of its own",
                )
        return [self._scale(vector) for vector in vectors]

    def _scale(self, vector: Vector) -> Vector:
        length = hypot(*vector)
        if not isfinite(length):
            raise EmbeddingError(
                f"{self.model_id}: a vector contains numbers that are not finite",
                "check that the model's files are complete",
            )
        if length == 0:
            return (1 / sqrt(len(vector)),) * len(vector)
        return tuple(number / length for number in vector)


def _clean_text(text: str) -> str:
    # A query may have half a surrogate pair, which no model can read; some refuse a blank text.
    return text[:MOST_CHARS].encode(errors="replace").decode() if text.strip() else "."
