"""Lists of runs: their ids from a sorted set, their lines from the runs' own hashes."""

import logging
import secrets
from collections.abc import Sequence
from typing import cast

from pydantic import ValidationError

from sifaka.record.run import RunSummary
from sifaka.storage.cursor import NEWEST, Position, decode_cursor, encode_cursor
from sifaka.storage.log import RunPage
from sifaka.storage.redis.connections import RedisClient
from sifaka.storage.redis.keys import Keys
from sifaka.storage.redis.scripts import PRUNE

logger = logging.getLogger(__name__)
_LOOKED_AT = 100
"""Runs that `prune_oldest` looks at in one go."""


async def list_recent(
    client: RedisClient, keys: Keys, *, limit: int, cursor: str | None
) -> RunPage:
    """One page of runs, found by their place in the order and not by counting."""
    start = NEWEST
    if cursor is not None:
        start = decode_cursor(await _cursor_key(client, keys), keys.tenant, cursor)
    page: list[tuple[Position, RunSummary]] = []
    while len(page) <= limit:
        positions = await positions_before(client, keys, start, count=limit + 1 - len(page))
        if not positions:
            break
        start = positions[-1]
        lines = await read_summaries(client, keys, [run_id for _, run_id in positions])
        page += [(at, line) for at, line in zip(positions, lines, strict=True) if line]
    shown = page[:limit]
    following: str | None = None
    if shown and len(page) > limit:
        # A cursor alone needs the key: a server that is out of memory can still be listed.
        following = encode_cursor(await _cursor_key(client, keys), keys.tenant, shown[-1][0])
    return RunPage(runs=tuple(line for _, line in shown), next_cursor=following)


async def positions_before(
    client: RedisClient, keys: Keys, start: Position, *, count: int
) -> list[Position]:
    """The places of the newest runs that come after this one in the list; empty at its end."""
    asked = count
    while True:
        found = cast(
            "Sequence[bytes]",
            await client.execute_command(
                *("ZREVRANGEBYSCORE", keys.recent, start[0], "-inf", "WITHSCORES"),
                *("LIMIT", 0, asked),
            ),
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
    found = cast("list[tuple[bytes | None, bytes | None]]", await together.execute())
    rows = list(zip(run_ids, found, strict=True))
    gone = [run_id for run_id, (version, _) in rows if version is None]
    if gone:
        await _prune(client, keys, gone)
    return [None if version is None else _line(run_id, text) for run_id, (version, text) in rows]


async def prune_oldest(client: RedisClient, keys: Keys) -> int:
    """Take expired runs at the end of the list out of it.

    Returns:
        How many there may be left; 0 when the oldest runs are still there.
    """
    oldest = cast(
        "Sequence[bytes]",
        await client.execute_command("ZRANGE", keys.recent, 0, _LOOKED_AT - 1),
    )
    if not oldest:
        return 0
    gone = await _prune(client, keys, [member.decode(errors="replace") for member in oldest])
    return int(await client.execute_command("ZCARD", keys.recent)) if gone == _LOOKED_AT else 0


async def _prune(client: RedisClient, keys: Keys, run_ids: Sequence[str]) -> int:
    # The script looks again: a run of the same id may have begun since.
    names = (keys.recent, *(keys.run(run_id) for run_id in run_ids))
    return int(await PRUNE.run(client, names, *(run_id.encode() for run_id in run_ids)))


def _line(run_id: str, text: bytes | None) -> RunSummary | None:
    try:
        return RunSummary.model_validate_json(text or b"")
    except ValidationError:
        logger.warning("the summary of run %r cannot be read; it is left out of lists", run_id)
        return None


async def _cursor_key(client: RedisClient, keys: Keys) -> bytes:
    while True:
        key = cast("bytes | None", await client.execute_command("GET", keys.cursor))
        if key is not None:
            return key
        # Who comes second finds the key of who came first.
        await client.execute_command("SET", keys.cursor, secrets.token_bytes(16), "NX")
