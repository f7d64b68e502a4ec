"""The health of a Redis server that keeps runs."""

from collections.abc import Mapping
from typing import cast

import anyio

from sifaka.errors import StorageError
from sifaka.storage.log import Health, look_at
from sifaka.storage.redis.connections import RedisClient, RedisConnections

OLDEST = (6, 2)
"""The oldest version of Redis that is supported."""
_SECONDS = 4.0


async def inspect(connections: RedisConnections) -> Health:
    """Look at the server, within some seconds."""
    shown = connections.address.shown
    answers = await look_at(shown, lambda: connections.run(_ping), seconds=_SECONDS)
    if not answers.works:
        return answers
    try:
        with anyio.fail_after(_SECONDS):
            return judge(shown, await connections.run(_info))
    except (TimeoutError, StorageError):
        return answers


def judge(shown: str, info: Mapping[str, str]) -> Health:
    """The health that the server's `INFO` amounts to."""
    version = info.get("redis_version", "0")
    if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) < OLDEST:
        old = f"Redis {version} is too old: use 6.2 or newer"
        return Health(part=shown, works=False, found=old)
    found = [f"Redis {version}"]
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(f"maxmemory-policy is {policy}: runs may be evicted, use noeviction")
    if info.get("aof_enabled") == "0":
        found.append(
            "appendonly is off: if the server breaks down, it loses what it had not saved yet"
        )
    return Health(part=shown, works=True, found="; ".join(found))


async def _ping(client: RedisClient) -> str:
    await client.execute_command("PING")
    return "Redis, which tells this user nothing about it"


async def _info(client: RedisClient) -> Mapping[str, str]:
    text = cast("bytes", await client.execute_command("INFO")).decode(errors="replace")
    pairs = (line.partition(":") for line in text.splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in pairs}
