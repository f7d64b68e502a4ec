from pathlib import Path

from sifaka.storage.memory import MemoryStorage


def make(folder: Path) -> MemoryStorage:
    return MemoryStorage()
