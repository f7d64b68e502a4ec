"""Searching the latest runs. No search module is asked of the server: few have one."""

import json
import logging
from collections.abc import Sequence
from typing import cast

from anyio import to_thread
from pydantic import ValidationError

from sifaka.errors import StorageError
from sifaka.record.run import Run, RunSummary
from sifaka.storage.bm25 import query_words
from sifaka.storage.cursor import NEWEST
from sifaka.storage.protocol import Filters, Hits
from sifaka.storage.redis.connections import Connections, RedisClient
from sifaka.storage.redis.keys import Keys
from sifaka.storage.redis.read import Stored, fold
from sifaka.storage.redis.recent import positions_before
from sifaka.storage.scan import search_runs

logger = logging.getLogger(__name__)
LATEST = 500
"""Runs that a search reads at most, the newest."""
_TOGETHER = 20
"""Runs that are fetched with one request."""


async def search_latest(
    connections: Connections,
    keys: Keys,
    query: str,
    *,
    limit: int,
    only: Filters,
    latest: int = LATEST,
) -> Hits:
    """The versions among the latest runs that share words with the query, by BM25."""
    if not query_words(query):
        return Hits(hits=(), search="bm25")

    async def newest(client: RedisClient) -> list[str]:
        places = await positions_before(client, keys, NEWEST, count=latest + 1)
        return [run_id for _, run_id in places]

    run_ids = await connections.run(newest)
    runs: list[Run] = []
    for begin in range(0, min(len(run_ids), latest), _TOGETHER):
        chunk = run_ids[begin : min(begin + _TOGETHER, latest)]
        runs += await _read(connections, keys, chunk, only)
    # In a thread: reading through many long texts takes a while.
    hits = await to_thread.run_sync(lambda: search_runs(runs, query, limit=limit, only=only))
    if len(run_ids) > latest:
        return hits.model_copy(update={"search": f"bm25 (the latest {latest} runs)"})
    return hits


async def _read(
    connections: Connections, keys: Keys, run_ids: Sequence[str], only: Filters
) -> list[Run]:
    async def admitted(client: RedisClient) -> list[str]:
        together = client.pipeline(transaction=False)
        for run_id in run_ids:
            together.execute_command("HMGET", keys.run(run_id), "summary", "tags")
        found = cast("list[tuple[bytes | None, bytes | None]]", await together.execute())
        return [
            run_id
            for run_id, (summary, tags) in zip(run_ids, found, strict=True)
            if summary is not None and _may_hold(summary, tags or b"[]", only)
        ]

    async def read(client: RedisClient) -> list[tuple[str, Stored]]:
        wanted = await admitted(client)
        together = client.pipeline(transaction=False)
        for run_id in wanted:
            together.execute_command("XRANGE", keys.entries(run_id), "-", "+")
        return list(zip(wanted, cast("list[Stored]", await together.execute()), strict=True))

    return await to_thread.run_sync(_folded, await connections.run(read))


def _may_hold(summary: bytes, tags: bytes, only: Filters) -> bool:
    # Only what saves reading a run for nothing: the filters look at each version once it is read.
    try:
        line = RunSummary.model_validate_json(summary)
        has = set(cast("list[str]", json.loads(tags)))
    except (ValidationError, ValueError, TypeError):
        return True
    return (
        (only.passed is None or line.passed == only.passed)
        and (only.since is None or line.updated_at >= only.since)
        and set(only.tags) <= has
    )


def _folded(found: Sequence[tuple[str, Stored]]) -> list[Run]:
    runs: list[Run] = []
    for run_id, stored in found:
        if not stored:  # it has expired, or was deleted, since the list was read
            continue
        try:
            runs.append(fold(run_id, len(stored), stored))
        except StorageError as error:
            logger.warning("%s; the run is left out of a search", error.message)
    return runs
