from pathlib import Path
from uuid import uuid4

from sifaka.storage.redis import RedisStorage
from tests.storage_contract.indexes.of_log import IndexOfLog
from tests.stubs.redis_server import shared_redis


def make(folder: Path) -> IndexOfLog:
    return IndexOfLog(RedisStorage(shared_redis().url, prefix=f"test-{uuid4().hex}"))


def make_expiring(folder: Path, seconds: float) -> IndexOfLog:
    url, prefix = shared_redis().url, f"test-{uuid4().hex}"
    return IndexOfLog(RedisStorage(url, prefix=prefix, ttl=seconds))
