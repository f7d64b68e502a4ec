"""The parts of a composed store: the log, and the indexes and copies behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sifaka.errors import ConfigurationError
from sifaka.storage.index import SearchIndex
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.parts import CopyReplica, IndexReplica, Part, Replica
from sifaka.storage.protocol import ThoughtStore


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of a store."""

    log: Part[ThoughtStore]
    """Decides versions and claims."""
    replicas: tuple[Replica, ...]
    """Index and copies, which get what the log has a moment later."""

    @property
    def parts(self) -> tuple[Part[ThoughtStore] | Replica, ...]:
        """All of them."""
        return (self.log, *self.replicas)

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the replicas."""
        return tuple(replica.name for replica in self.replicas)

    @property
    def copies(self) -> list[CopyReplica]:
        """The copies of the log."""
        return [each for each in self.replicas if isinstance(each, CopyReplica)]

    @property
    def indexes(self) -> list[IndexReplica]:
        """The search indexes."""
        return [each for each in self.replicas if isinstance(each, IndexReplica)]

    def log_of(self, tenant: str) -> ThoughtStore:
        """The log as a tenant sees it."""
        return self.log.inner.scoped(tenant)


def lay_out(stores: Sequence[ThoughtStore | SearchIndex], *, retry_after: float) -> Layout:
    """Assign the stores their parts: the first one that lasts is the log."""
    if len({id(store) for store in stores}) < len(stores):
        raise ConfigurationError("the same store stands there twice", "name each store once")
    seen: Counter[str] = Counter()
    logs: list[tuple[str, ThoughtStore]] = []
    indexes: list[tuple[str, SearchIndex]] = []
    for store in stores:
        # What waits in the outbox finds its part by this name, in a later process too.
        seen[store.place] += 1
        number = seen[store.place]
        name = store.place if number == 1 else f"{store.place} ({number})"
        if isinstance(store, SearchIndex):
            indexes.append((name, store))
        else:
            logs.append((name, store))
    lasting = (n for n, (_, store) in enumerate(logs) if not isinstance(store, MemoryStorage))
    first = next(lasting, len(logs) - 1)
    if first < 0:
        raise ConfigurationError(
            "a search index is no log: there is no store that the runs could be in",
            "name one before it, such as redis://... or sqlite:",
        )
    replicas: list[Replica] = [
        CopyReplica(name, store, retry_after) for name, store in logs[first + 1 :]
    ]
    replicas += [IndexReplica(name, index, retry_after) for name, index in indexes]
    return Layout(Part(*logs[first], retry_after), tuple(replicas))
