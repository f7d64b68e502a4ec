from pathlib import Path

from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage


def make(folder: Path) -> CachedStorage:
    copy = SQLiteStorage(folder / "copy.db")
    behind = CachedStorage(SQLiteStorage(folder / "runs.db"), copy)
    return CachedStorage(MemoryStorage(), behind)
