from pathlib import Path

from sifaka.storage.files import FileStorage
from tests.storage_contract.indexes.of_log import IndexOfLog


def make(folder: Path) -> IndexOfLog:
    return IndexOfLog(FileStorage(folder / "runs"))
