from pathlib import Path

from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory


def make(folder: Path) -> CachedStorage:
    tiers = (MemoryStorage(), SQLiteStorage(folder / "runs.db"), SearchIndexInMemory())
    return CachedStorage(*tiers, queue=folder / "queue.db")
