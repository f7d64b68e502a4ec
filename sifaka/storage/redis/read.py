"""Reading runs: their entries, where some may be missing, and the lists of them."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic import ValidationError

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import Position, cut_page, decode_cursor
from sifaka.storage.entry_json import replay_run
from sifaka.storage.protocol import RunPage
from sifaka.storage.redis.connections import RedisClient
from sifaka.storage.redis.keys import PRUNE, Keys, run_script

Stored = Sequence[tuple[bytes, Sequence[bytes]]]
"""Entries as Redis returns them from a stream: their ids, and names and values by turns."""


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


logger = logging.getLogger(__name__)
_LOOKED_AT = 100
"""Runs that `prune_oldest` looks at in one go."""


async def list_recent(
    client: RedisClient, keys: Keys, *, limit: int, cursor: str | None
) -> RunPage:
    """One page of runs, found by their place in the order and not by counting."""
    start = decode_cursor(cursor)
    page: list[RunSummary] = []
    while len(page) <= limit:
        positions = await positions_before(client, keys, start, count=limit + 1 - len(page))
        if not positions:
            break
        start = positions[-1]
        lines = await read_summaries(client, keys, [run_id for _, run_id in positions])
        page += [line for line in lines if line]
    return cut_page(page, limit=limit)


async def positions_before(
    client: RedisClient, keys: Keys, start: Position, *, count: int
) -> list[Position]:
    """The places of the newest runs that come after this one in the list; empty at its end."""
    asked = count
    while True:
        found = await client.execute_command(
            *("ZREVRANGEBYSCORE", keys.recent, start[0], "-inf", "WITHSCORES"),
            *("LIMIT", 0, asked),
        )
        places = [
            (round(float(score)), member.decode(errors="replace"))
            for member, score in zip(found[::2], found[1::2], strict=True)
        ]
        beyond = [place for place in places if place < start]
        # Those of the very moment of the start come again, and could fill all that was asked for.
        if len(beyond) >= count or len(places) < asked:
            return beyond[:count]
        asked *= 2


async def read_summaries(
    client: RedisClient, keys: Keys, run_ids: Sequence[str]
) -> list[RunSummary | None]:
    """The line of each run; None for one that is damaged, and for one that is gone.

    What is gone is taken out of the list.
    """
    together = client.pipeline(transaction=False)
    for run_id in run_ids:
        together.execute_command("HMGET", keys.run(run_id), "version", "summary")
    found = await together.execute(raise_on_error=False)
    rows = [(run_id, _fields(answer)) for run_id, answer in zip(run_ids, found, strict=True)]
    gone = [run_id for run_id, (version, _) in rows if version is None]
    if gone:
        await _prune(client, keys, gone)
    return [None if version is None else _line(run_id, text) for run_id, (version, text) in rows]


def _fields(answer: object) -> tuple[bytes | None, bytes | None]:
    """The version and the summary of a run; a key of another type is a damaged run, no other error.

    Else one such key would hide the runs of its whole tenant.
    """
    from redis.exceptions import ResponseError

    if isinstance(answer, ResponseError) and str(answer).startswith("WRONGTYPE"):
        return b"", None
    if isinstance(answer, Exception):
        raise answer
    return cast("tuple[bytes | None, bytes | None]", answer)


async def prune_oldest(client: RedisClient, keys: Keys) -> int:
    """Take expired runs at the end of the list out of it.

    Returns:
        How many there may be left; 0 when the oldest runs are still there.
    """
    oldest: Sequence[bytes] = await client.execute_command("ZRANGE", keys.recent, 0, _LOOKED_AT - 1)
    if not oldest:
        return 0
    gone = await _prune(client, keys, [member.decode(errors="replace") for member in oldest])
    return int(await client.execute_command("ZCARD", keys.recent)) if gone == _LOOKED_AT else 0


async def _prune(client: RedisClient, keys: Keys, run_ids: Sequence[str]) -> int:
    # The script looks again: a run of the same id may have begun since.
    names = (keys.recent, *(keys.run(run_id) for run_id in run_ids))
    return int(await run_script(client, PRUNE, names, *(run_id.encode() for run_id in run_ids)))


def _line(run_id: str, text: bytes | None) -> RunSummary | None:
    try:
        return RunSummary.model_validate_json(text or b"")
    except ValidationError:
        logger.warning("the summary of run %r cannot be read; it is left out of lists", run_id)
        return None
