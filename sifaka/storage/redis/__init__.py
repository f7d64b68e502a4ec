"""Runs in Redis: the store that several servers share while they work."""

from sifaka.storage.redis.store import RedisStorage

__all__ = ["RedisStorage"]
