from pathlib import Path
from uuid import uuid4

from sifaka.storage.redis import RedisStorage
from tests.stubs.redis_server import shared_redis


def make(folder: Path) -> RedisStorage:
    return RedisStorage(shared_redis().url, prefix=f"test-{uuid4().hex}")
