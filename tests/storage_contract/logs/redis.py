from pathlib import Path
from uuid import uuid4

from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.connections import RedisClient
from sifaka.storage.redis.log import Keys
from tests.stubs.redis_server import shared_redis


def make(folder: Path) -> RedisStorage:
    return RedisStorage(shared_redis().url, prefix=f"test-{uuid4().hex}")


def make_expiring(folder: Path, seconds: float) -> RedisStorage:
    return RedisStorage(shared_redis().url, prefix=f"test-{uuid4().hex}", ttl=seconds)


async def damage(log: RedisStorage, run_id: str) -> None:
    entries = Keys(log.prefix, log.tenant).entries(run_id)

    async def spoil(client: RedisClient) -> None:
        await client.execute_command("XDEL", entries, "2-0")
        await client.execute_command("XADD", entries, "3-0", "e", "no JSON")

    await log.connections.run(spoil)
