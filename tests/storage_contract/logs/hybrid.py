from pathlib import Path

from sifaka.storage.files import FileStorage
from sifaka.storage.retention import HybridMemory
from sifaka.storage.sqlite import SQLiteStorage


def make(folder: Path) -> HybridMemory:
    return HybridMemory(
        short_term=SQLiteStorage(folder / "short.db"),
        episodic=FileStorage(folder / "episodes"),
    )
