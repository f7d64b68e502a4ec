from pathlib import Path

from sifaka.storage.memory import MemoryLog


def make(folder: Path) -> MemoryLog:
    return MemoryLog()
