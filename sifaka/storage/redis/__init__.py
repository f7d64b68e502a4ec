"""Runs in Redis, which several servers share while they work."""

from sifaka.storage.redis.log import RedisLog
from sifaka.storage.redis.store import RedisStorage

__all__ = ["RedisLog", "RedisStorage"]
