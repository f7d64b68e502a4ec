from pathlib import Path

from sifaka.storage.sqlite import SQLiteStorage
from tests.storage_contract.indexes.of_log import IndexOfLog


def make(folder: Path) -> IndexOfLog:
    return IndexOfLog(SQLiteStorage(folder / "runs.db"))
