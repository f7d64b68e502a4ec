from pathlib import Path
from uuid import uuid4

from sifaka.storage.memory import MemoryStorage
from sifaka.storage.redis import RedisStorage
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.tiers import CachedStorage
from tests.stubs.redis_server import shared_redis


def make(folder: Path) -> CachedStorage:
    redis = RedisStorage(shared_redis().url, prefix=f"test-{uuid4().hex}")
    search = SQLiteStorage(folder / "search.db")
    return CachedStorage.of((MemoryStorage(), redis, search), queue=folder / "queue.db")
