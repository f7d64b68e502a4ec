from pathlib import Path

from tests.storage_contract.indexes.of_log import IndexOfLog
from tests.storage_contract.logs import hybrid


def make(folder: Path) -> IndexOfLog:
    return IndexOfLog(hybrid.make(folder))
