"""Following a run through its stream: Redis wakes those who wait for the next entry.

Streams rather than publish/subscribe: a follower that was cut off goes on where it was.
"""

from collections.abc import AsyncGenerator

import anyio

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.entry_json import apply_entry, decode_entries
from sifaka.storage.redis.connections import RedisClient, RedisConnections
from sifaka.storage.redis.failures import failures
from sifaka.storage.redis.keys import Keys
from sifaka.storage.redis.read import Stored, between_versions, missing, payloads

SLICE = 5.0
"""Seconds that one request waits; after each without an entry the run is looked after."""
_LATE = 5.0
"""Seconds after its time within which requests have to be answered."""
_AT_ONCE = 100


async def follow_stream(
    connections: RedisConnections, keys: Keys, run_id: str, *, after: int, seconds: float = SLICE
) -> AsyncGenerator[tuple[Entry, Run]]:
    """Every entry of a run, those to come included; see `ThoughtStore.follow`.

    Args:
        connections: The server's; the follower has one of its own.
        keys: Those of the tenant.
        run_id: The run.
        after: The number of entries at the beginning that are left out.
        seconds: For how long one request waits.
    """
    run: Run | None = None
    known = 0
    stored: Stored = ()
    block = ("XREAD", "COUNT", _AT_ONCE, "BLOCK", max(1, round(seconds * 1000)))
    async with connections.blocking() as client:
        while True:
            # The connection itself has no time limit.
            with failures(connections.address.shown), anyio.fail_after(seconds + _LATE):
                if not stored:
                    await _look_after(client, keys, run_id, known)
                found = await client.execute_command(
                    *block, "STREAMS", keys.entries(run_id), f"{known}-0"
                )
            stored = found[0][1] if found else ()
            texts = payloads(run_id, stored, after=known)
            for entry in decode_entries(run_id, texts, after=known):
                run = apply_entry(run_id, run, entry)
                if run.version > after:
                    yield entry, run
            known += len(stored)
            # A run that had ended may have gone on.
            if run is not None and run.finished and len(stored) < _AT_ONCE:
                return


async def _look_after(client: RedisClient, keys: Keys, run_id: str, known: int) -> None:
    """Raise if there is nothing to wait for."""
    version, count = await between_versions(client, keys, run_id, "XLEN", keys.entries(run_id))
    # One with fewer entries than were seen is another run, begun when this one was deleted.
    if version < known:
        raise ThoughtNotFound(run_id)
    if count < version:
        raise missing(run_id, count + 1)
