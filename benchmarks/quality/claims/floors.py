"""The floor of meaning at several heights, by a model of embeddings."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.quality.claims.judges import HONEST, JUDGES, Judge
from benchmarks.quality.claims.labelled import SetName, load
from benchmarks.quality.claims.measure import judged, of
from sifaka.embeddings import Embedder, Role, Vector
from sifaka.evidence.claims.meaning import FLOOR, MeaningFloor

LIARS: Mapping[str, Judge] = MappingProxyType(
    {
        name: JUDGES[name]
        for name in (
            "supports, nearest sentence",
            "supports, clause cut out of it",
            "supports, five nearest",
            "supports, the whole document",
        )
    }
)
"""Those who get a false claim supported without a floor; it takes support away and never adds."""
FLOORS: Sequence[MeaningFloor | None] = (
    None,
    *(FLOOR._replace(least=least) for least in (0.2, 0.4, 0.5, 0.55, 0.6, 0.7)),
    FLOOR._replace(contradicting=FLOOR.least),
)
"""None is no floor at all."""


class Effect(NamedTuple):
    """The claims of one half under one floor."""

    supported: int
    """False claims that lying judges get supported, each counted for every such judge."""
    most: int
    """Those of the judge who gets the most."""
    refused: int
    """True claims that are not supported although the honest judge says so."""
    contradicted: int
    """False claims that are contradicted, as the honest judge says."""


class KnownTexts:
    """An embedder that asks for each text once: each floor is held against the same ones.

    Args:
        embedder: The embedder that is asked.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, Role], Vector] = {}

    @property
    def model_id(self) -> str:
        """The id of the embedder."""
        return self._embedder.model_id

    async def dimension(self) -> int:
        """The length of a vector."""
        return await self._embedder.dimension()

    async def embed(self, texts: Sequence[str], *, role: Role) -> Sequence[Vector]:
        """A vector for each text, in their order; see `Embedder.embed`."""
        new = [text for text in dict.fromkeys(texts) if (text, role) not in self._known]
        vectors = await self._embedder.embed(new, role=role)
        self._known |= {(text, role): vector for text, vector in zip(new, vectors, strict=True)}
        return [self._known[text, role] for text in texts]


async def effect(name: SetName, embedder: Embedder, floor: MeaningFloor | None) -> Effect:
    """The claims of one half, in words of their own, under a floor."""
    pages, used = load(name), None if floor is None else embedder
    honest = await judged(pages, JUDGES[HONEST], embedder=used, floor=floor or FLOOR)
    lied = [
        await judged(pages, judge, embedder=used, floor=floor or FLOOR) for judge in LIARS.values()
    ]
    return Effect(
        supported=sum(of(found, "supported", is_true=False) for found in lied),
        most=max(of(found, "supported", is_true=False) for found in lied),
        refused=of(honest, is_true=True) - of(honest, "supported", is_true=True),
        contradicted=of(honest, "contradicted", is_true=False),
    )
