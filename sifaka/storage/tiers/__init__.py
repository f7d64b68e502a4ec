"""Several stores that work as one: caches in memory, the authority, copies behind it."""

from sifaka.storage.tiers.backlog import Refused
from sifaka.storage.tiers.store import CachedStorage

__all__ = ["CachedStorage", "Refused"]
