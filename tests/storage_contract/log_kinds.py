"""The logs that the contract of logs holds for.

Each is made empty, in a folder; what servers it needs are started once for all tests.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from sifaka.storage.cached import CachedStorage
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.files import FileStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.store import Keys
from sifaka.storage.retention import HybridMemory
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.tool_backed import RedisToolStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory
from tests.stubs.elasticsearch_server import shared_server
from tests.stubs.redis_server import command, shared_redis
from tests.stubs.runs import sql
from tests.stubs.tool_sessions import shared_redis_mcp


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One kind of log."""

    make: Callable[[Path], ThoughtStore]
    make_expiring: Callable[[float], ThoughtStore] | None = None
    """Makes one that forgets runs so many seconds after their last entry."""
    damage: Callable[[Any, str], Awaitable[None]] | None = None
    """Spoils the second entry of a run, behind the log's back."""


def redis(ttl: float | None = None) -> RedisStorage:
    """An empty one on the server that all tests share."""
    return RedisStorage(shared_redis().url, prefix=f"test-{uuid4().hex}", ttl=ttl)


def elasticsearch(ttl: float | None = None) -> ElasticsearchIndex:
    """An empty index, which one of the logs has."""
    prefix = f"contract-{uuid4().hex}"
    return ElasticsearchIndex(
        f"elasticsearch+http://{shared_server().host}?prefix={prefix}", ttl=ttl
    )


def cached(folder: Path) -> CachedStorage:
    tiers = (MemoryStorage(), SQLiteStorage(folder / "runs.db"), SearchIndexInMemory())
    return CachedStorage(*tiers, queue=folder / "queue.db")


def cached_without_queue(folder: Path) -> CachedStorage:
    behind = CachedStorage(SQLiteStorage(folder / "runs.db"), SearchIndexInMemory())
    return CachedStorage(MemoryStorage(), behind)


def cached_redis(folder: Path) -> CachedStorage:
    return CachedStorage(MemoryStorage(), redis(), elasticsearch(), queue=folder / "queue.db")


def hybrid(folder: Path) -> HybridMemory:
    short, episodes = SQLiteStorage(folder / "short.db"), FileStorage(folder / "episodes")
    return HybridMemory(short_term=short, episodic=episodes)


async def damage_sqlite(log: SQLiteStorage, run_id: str) -> None:
    spoil = "UPDATE entries SET payload = 'no JSON' WHERE run_id = ? AND seq = 2"
    sql(Path(log.path), spoil, (run_id,))


async def damage_file(log: FileStorage, run_id: str) -> None:
    (file,) = (log.folder / log.tenant).glob(f"{run_id}.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b'"kind"', b'"kind')]))


async def damage_redis(log: RedisStorage, run_id: str) -> None:
    entries = Keys(log.prefix, log.tenant).entries(run_id)
    await command(log, "XDEL", entries, "2-0")
    await command(log, "XADD", entries, "3-0", "e", "no JSON")


LOGS: Mapping[str, Log] = {
    "memory": Log(make=lambda _: MemoryStorage()),
    "sqlite": Log(make=lambda folder: SQLiteStorage(folder / "runs.db"), damage=damage_sqlite),
    "file": Log(make=lambda folder: FileStorage(folder / "runs"), damage=damage_file),
    "redis": Log(make=lambda _: redis(), make_expiring=redis, damage=damage_redis),
    "hybrid": Log(make=hybrid),
    "cached": Log(make=cached),
    "cached_redis": Log(make=cached_redis),
    "cached_without_queue": Log(make=cached_without_queue),
    "redis_mcp": Log(make=lambda _: RedisToolStorage(shared_redis_mcp(), prefix=uuid4().hex)),
}
