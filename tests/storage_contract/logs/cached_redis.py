from pathlib import Path
from uuid import uuid4

from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.redis import RedisStorage
from tests.storage_contract.indexes import elasticsearch
from tests.stubs.redis_server import shared_redis


def make(folder: Path) -> CachedStorage:
    redis = RedisStorage(shared_redis().url, prefix=f"test-{uuid4().hex}")
    index = elasticsearch.make(folder)
    return CachedStorage(MemoryStorage(), redis, index, queue=folder / "queue.db")
