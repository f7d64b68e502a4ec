"""What all stores of one place in this process share: Milvus has no compare-and-set."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from weakref import WeakValueDictionary

from sifaka.storage.milvus.rows import RunRow

_LOCKS = 64
_KNOWN_RUNS = 4_096


class Shared:
    """Locks, and what this process has written last.

    A server shows a write to those who do not wait for it some 0.2 s later; what this process
    wrote it knows at once from here.
    """

    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.writing = threading.Lock()
        self.unsettled: dict[str, int] = {}
        """How many rows each index got since it was flushed; for who holds `writing`."""
        self.missing: dict[str, dict[str, str]] = {}
        """What an index has not got yet, once somebody has looked for it: the keys of versions, and
        whose they are."""
        self.cursor_key = b""
        """What cursors are sealed with, once it is known."""
        self._runs = tuple(threading.RLock() for _ in range(_LOCKS))
        self._guard = threading.Lock()
        self._known: OrderedDict[str, RunRow] = OrderedDict()
        self._users = 0

    def opened(self) -> None:
        """Somebody is connected."""
        with self._guard:
            self._users += 1

    def closed(self) -> None:
        """Who was connected is not; what nobody keeps up to date is forgotten."""
        with self._guard:
            self._users -= 1
            if not self._users:
                self._known.clear()
                self.missing.clear()
                self.unsettled.clear()
                self.cursor_key = b""

    def lock(self, key: str) -> AbstractContextManager[object]:
        """Held by whoever changes the run of this key."""
        return self._runs[int(key[:8], 16) % _LOCKS]

    def known(self, key: str) -> RunRow | None:
        """What this process has written last about a run, unless that is long ago."""
        with self._guard:
            return self._known.get(key)

    def remember(self, row: RunRow) -> None:
        """Note what was written."""
        with self._guard:
            self._known[row.key] = row
            self._known.move_to_end(row.key)
            while len(self._known) > _KNOWN_RUNS:
                self._known.popitem(last=False)

    def doubt(self, key: str) -> None:
        """Ask the server next time: a write has failed, or nobody knows whether it has."""
        with self._guard:
            self._known.pop(key, None)

    def note_missing(self, collection: str, versions: Mapping[str, str]) -> None:
        """An index has not got these versions; their keys, and whose they are."""
        with self._guard:
            self.missing[collection].update(versions)

    def count_missing(self, collection: str, tenant: str) -> int:
        """How many versions of a tenant an index is known to lack."""
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


_places: WeakValueDictionary[str, Shared] = WeakValueDictionary()
_guard = threading.Lock()


def shared_by(place: str) -> Shared:
    """What the stores of a place share, as long as one of them lives."""
    with _guard:
        shared = _places.get(place)
        if shared is None:
            shared = _places[place] = Shared()
        return shared
