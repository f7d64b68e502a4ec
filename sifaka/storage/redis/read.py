"""Reading the entries of runs, and noticing when some are not there any more."""

from collections.abc import Iterator, Sequence
from typing import Any

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.run import Run
from sifaka.storage.entry_json import replay_run
from sifaka.storage.redis.connections import RedisClient
from sifaka.storage.redis.keys import Keys

Stored = Sequence[tuple[bytes, Sequence[bytes]]]
"""Entries as Redis returns them from a stream: their ids, and names and values by turns."""


async def read_entries(client: RedisClient, keys: Keys, run_id: str) -> tuple[int, Stored]:
    """The least number of entries that a run has, and the entries that are there."""
    return await between_versions(client, keys, run_id, "XRANGE", keys.entries(run_id), "-", "+")


async def between_versions(
    client: RedisClient, keys: Keys, run_id: str, *command: str
) -> tuple[int, Any]:
    """The lower of a run's versions before and after a command, and the command's answer.

    Not a transaction, which a server that is out of memory refuses even for reading. An append in
    between makes the lower version too low, and so does another run that begins under the same id:
    neither looks as if entries were missing.
    """
    together = client.pipeline(transaction=False)
    together.execute_command("HGET", keys.run(run_id), "version")
    together.execute_command(*command)
    together.execute_command("HGET", keys.run(run_id), "version")
    before, answer, after = await together.execute()
    if before is None or after is None:
        raise ThoughtNotFound(run_id)
    return min(int(before), int(after)), answer


def replay(run_id: str, version: int, stored: Stored) -> Run:
    """The run of stored entries."""
    if len(stored) < version:
        # The gap comes first; without one it is the end that is missing.
        list(payloads(run_id, stored))
        raise missing(run_id, len(stored) + 1)
    return replay_run(run_id, payloads(run_id, stored))


def payloads(run_id: str, stored: Stored, *, after: int = 0) -> Iterator[bytes]:
    """The JSON of each of a run's entries, before which lie `after` others."""
    for number, (entry_id, fields) in enumerate(stored, after + 1):
        if entry_id != b"%d-0" % number:
            raise missing(run_id, number)
        yield fields[1]


def missing(run_id: str, number: int) -> StorageError:
    """The error that says which entry is not there."""
    return StorageError(
        f"entry {number} of run {run_id!r} is missing",
        "it was evicted or removed: use maxmemory-policy noeviction; other runs are not affected",
    )
