from pathlib import Path

from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.tiers import CachedStorage


def make(folder: Path) -> CachedStorage:
    copy = SQLiteStorage(folder / "copy.db")
    behind = CachedStorage(SQLiteStorage(folder / "runs.db"), copy)
    return CachedStorage(MemoryStorage(), behind)
