"""Following a run through its stream: Redis wakes those who wait for the next entry.

Streams rather than publish/subscribe: a follower that was cut off goes on where it was.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class StreamFollower:
    """Follows one run."""

    connections: RedisConnections
    keys: Keys
    run_id: str
    slice: float = SLICE

    async def follow(self, *, after: int) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry, those to come included; see `ThoughtStore.follow`."""
        run: Run | None = None
        async with aclosing(self._batches()) as batches:
            async for batch in batches:
                for entry in batch:
                    run = apply_entry(self.run_id, run, entry)
                    if run.version > after:
                        yield entry, run
                # A run that had ended may have gone on.
                if run is not None and run.finished and len(batch) < _AT_ONCE:
                    return

    async def _batches(self) -> AsyncGenerator[Sequence[Entry]]:
        """The entries as they come; an empty batch after a while without one."""
        known = 0
        quiet = True
        async with self.connections.blocking() as client:
            while True:
                # The connection itself has no time limit.
                with (
                    failures(self.connections.address.shown),
                    anyio.fail_after(self.slice + _LATE),
                ):
                    if quiet:
                        await self._look_after(client, known)
                    stored = await self._next(client, known)
                quiet = not stored
                texts = payloads(self.run_id, stored, after=known)
                yield tuple(decode_entries(self.run_id, texts, after=known))
                known += len(stored)

    async def _next(self, client: RedisClient, known: int) -> Stored:
        """The entries after the first so many, as soon as there is one, or none in time."""
        found = await client.execute_command(
            *("XREAD", "COUNT", _AT_ONCE, "BLOCK", max(1, round(self.slice * 1000))),
            *("STREAMS", self.keys.entries(self.run_id), f"{known}-0"),
        )
        return found[0][1] if found else ()

    async def _look_after(self, client: RedisClient, known: int) -> None:
        """Raise if there is nothing to wait for."""
        version, count = await between_versions(
            client, self.keys, self.run_id, "XLEN", self.keys.entries(self.run_id)
        )
        # One with fewer entries than were seen is another run, begun when this one was deleted.
        if version < known:
            raise ThoughtNotFound(self.run_id)
        if count < version:
            raise missing(self.run_id, count + 1)
