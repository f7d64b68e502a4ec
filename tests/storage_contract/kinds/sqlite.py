from pathlib import Path

from sifaka.storage.sqlite import SQLiteStorage


def make(folder: Path) -> SQLiteStorage:
    return SQLiteStorage(folder / "runs.db")
