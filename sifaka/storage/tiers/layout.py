"""Which tier of a layered store has which role."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sifaka.errors import ConfigurationError
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.tiers.tier import Tier


@dataclass(frozen=True, slots=True)
class Layout:
    """The tiers by their roles, in the order in which they were given."""

    caches: tuple[Tier, ...]
    """In this process's memory; they hold what the authority has acknowledged."""
    authority: Tier
    """Versions, fences and claims are decided here."""
    copies: tuple[Tier, ...]
    """Written behind the authority's back; the last one is searched."""

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """All of them."""
        return (*self.caches, self.authority, *self.copies)


def lay_out(stores: Sequence[ThoughtStore], *, retry_after: float) -> Layout:
    """Leading stores in memory are caches, the first lasting one decides, the others are copies.

    Raises:
        ConfigurationError: One of them stands there twice.
    """
    if len({id(store) for store in stores}) < len(stores):
        raise ConfigurationError("the same store stands in two tiers", "name each store once")
    tiers = tuple(
        Tier(name, store, retry_after) for name, store in zip(_names(stores), stores, strict=True)
    )
    lasting = (n for n, store in enumerate(stores) if not isinstance(store, MemoryStorage))
    first = next(lasting, len(stores) - 1)
    return Layout(tiers[:first], tiers[first], tiers[first + 1 :])


def _names(stores: Sequence[ThoughtStore]) -> list[str]:
    # Queued appends find their tier by this name, in a later process too, whatever its row.
    seen: Counter[str] = Counter()
    names: list[str] = []
    for store in stores:
        name = store.place
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names
