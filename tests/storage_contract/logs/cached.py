from pathlib import Path

from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage


def make(folder: Path) -> CachedStorage:
    tiers = (MemoryStorage(), SQLiteStorage(folder / "runs.db"), SQLiteStorage(folder / "copy.db"))
    return CachedStorage.of(tiers, queue=folder / "queue.db")
