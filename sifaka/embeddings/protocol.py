"""The protocol of embedders."""

from collections.abc import Sequence
from typing import Literal, Protocol

Role = Literal["document", "query"]
"""Some models embed what is looked for otherwise than what is found."""
Vector = Sequence[float]


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
