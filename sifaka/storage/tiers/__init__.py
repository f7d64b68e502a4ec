"""Several stores that work as one: caches in memory, the authority, copies behind it."""

from sifaka.storage.tiers.store import CachedStorage
from sifaka.storage.tiers.waiting import Refused

__all__ = ["CachedStorage", "Refused"]
