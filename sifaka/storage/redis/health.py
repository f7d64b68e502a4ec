"""The health of a Redis server that keeps runs."""

from collections.abc import Mapping
from typing import cast

import anyio

from sifaka.errors import SifakaError, StorageError
from sifaka.storage.log import Health
from sifaka.storage.redis.connections import RedisClient, RedisConnections

OLDEST = (6, 2)
"""The oldest version of Redis that is supported."""
_SECONDS = 4.0


async def inspect(connections: RedisConnections) -> Health:
    """Look at the server, within some seconds."""
    shown = connections.address.shown
    try:
        with anyio.fail_after(_SECONDS):
            await connections.run(_ping)
    except TimeoutError:
        return Health(part=shown, works=False, found=f"no answer within {_SECONDS:.0f} s")
    except SifakaError as error:
        return Health(part=shown, works=False, found=str(error))
    try:
        with anyio.fail_after(_SECONDS):
            info = await connections.run(_info)
    except (TimeoutError, StorageError):
        return Health(part=shown, works=True, found="Redis, which tells this user nothing about it")
    return judge(shown, info)


def judge(shown: str, info: Mapping[str, str]) -> Health:
    """What the server's `INFO` amounts to."""
    version = info.get("redis_version", "0")
    if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) < OLDEST:
        return Health(
            part=shown,
            works=False,
            found=f"Redis {version} is too old: use 6.2 or newer",
        )
    found = [f"Redis {version}"]
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(f"maxmemory-policy is {policy}: runs may be evicted, use noeviction")
    if info.get("aof_enabled") == "0":
        found.append(
            "appendonly is off: if the server breaks down, it loses what it had not saved yet"
        )
    return Health(part=shown, works=True, found="; ".join(found))


async def _ping(client: RedisClient) -> None:
    await client.execute_command("PING")


async def _info(client: RedisClient) -> Mapping[str, str]:
    text = cast("bytes", await client.execute_command("INFO")).decode(errors="replace")
    pairs = (line.partition(":") for line in text.splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in pairs}
