"""Runs in Redis, which several servers share while they work."""

from sifaka.storage.redis.store import RedisStorage

__all__ = ["RedisStorage"]
