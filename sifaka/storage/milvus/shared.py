"""The state that all indexes of one place in this process share."""

import threading
from collections.abc import Mapping
from weakref import WeakValueDictionary


class MilvusState:
    """Locks, and the versions that each collection of words or vectors lacks."""

    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.writing = threading.Lock()
        self.unsettled: dict[str, int] = {}
        """The rows of each index since its last flush; guarded by `writing`."""
        self.missing: dict[str, dict[str, str]] = {}
        """By collection, once it was compared: the keys of the versions that it lacks, and their
        tenants."""
        self.former_words = False
        """True while the rows of words that an earlier release made are there."""
        self._guard = threading.Lock()
        self._users = 0

    def opened(self) -> None:
        """Count one more connection."""
        with self._guard:
            self._users += 1

    def closed(self) -> None:
        """Count one connection less; the last one clears what is known of the indexes."""
        with self._guard:
            self._users -= 1
            if not self._users:
                self.missing.clear()
                self.unsettled.clear()

    def note_missing(self, collection: str, versions: Mapping[str, str]) -> None:
        """An index has not got these versions; their keys, and whose they are."""
        with self._guard:
            self.missing[collection].update(versions)

    def count_missing(self, collection: str, tenant: str) -> int:
        """The number of a tenant's versions that an index is known to lack."""
        with self._guard:
            return list(self.missing.get(collection, {}).values()).count(tenant)

    def missing_of(self, collection: str) -> list[str]:
        """The versions that an index is known to lack."""
        with self._guard:
            return list(self.missing.get(collection, ()))

    def settle(self, collection: str, keys: list[str]) -> None:
        """The index has these versions now, or will never."""
        with self._guard:
            for key in keys:
                self.missing[collection].pop(key, None)


_places: WeakValueDictionary[str, MilvusState] = WeakValueDictionary()
_guard = threading.Lock()


def shared_by(place: str) -> MilvusState:
    """The state that the stores of a place share, as long as one of them lives."""
    with _guard:
        shared = _places.get(place)
        if shared is None:
            shared = _places[place] = MilvusState()
        return shared
