from pathlib import Path

from tests.storage_contract.indexes.of_log import IndexOfLog
from tests.storage_contract.logs import cached_redis


def make(folder: Path) -> IndexOfLog:
    return IndexOfLog(cached_redis.make(folder))
