from pathlib import Path

from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory


def make(folder: Path) -> CachedStorage:
    behind = CachedStorage(SQLiteStorage(folder / "runs.db"), SearchIndexInMemory())
    return CachedStorage(MemoryStorage(), behind)
