from pathlib import Path

from sifaka.storage.files import FileStorage
from sifaka.storage.hybrid import HybridMemory
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage


def make(folder: Path) -> HybridMemory:
    return HybridMemory(
        working=MemoryStorage(),
        short_term=SQLiteStorage(folder / "short.db"),
        long_term=SQLiteStorage(folder / "long.db"),
        episodic=FileStorage(folder / "episodes"),
    )
