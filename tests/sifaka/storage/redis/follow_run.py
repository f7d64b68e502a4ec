"""A process that follows a run, and says of each entry what it is."""

import sys
from contextlib import aclosing

import anyio

from sifaka.storage.address import REDIS, parse_store_url
from sifaka.storage.redis.connections import RedisConnections
from sifaka.storage.redis.log import Keys, follow_stream


async def follow(url: str, prefix: str, run_id: str) -> None:
    connections = RedisConnections(parse_store_url(url, REDIS))
    steps = follow_stream(connections, Keys(prefix, "default"), run_id, after=0, seconds=0.05)
    async with aclosing(steps):
        async for entry, run in steps:
            sys.stdout.write(f"{entry.kind} {run.version}\n")
            sys.stdout.flush()
    await connections.aclose()


anyio.run(follow, sys.argv[1], sys.argv[2], sys.argv[3])
