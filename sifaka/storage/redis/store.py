"""A store in Redis: a stream for each run, on which its followers wait."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from typing import cast

from anyio import to_thread

from sifaka.errors import Fenced, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.address import REDIS, parse_store_url
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.log import look_at
from sifaka.storage.protocol import Health, RunPage
from sifaka.storage.redis.connections import RedisClient, RedisConnections
from sifaka.storage.redis.log import (
    APPEND,
    CLAIM,
    DELETE,
    Keys,
    between_versions,
    follow_stream,
    list_recent,
    missing,
    prune_oldest,
    replay,
    run_script,
)
from sifaka.storage.store import RepairingStore

OLDEST = (6, 2)
"""The oldest version of Redis that is supported."""
_SHORT = 20_000
"""Bytes of a record up to which it is read without a thread: about a millisecond."""


def judge(info: Mapping[str, str]) -> str:
    """What the server's `INFO` says about its health.

    Raises:
        StorageError: It is too old.
    """
    version = info.get("redis_version", "0")
    if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) < OLDEST:
        raise StorageError(f"Redis {version} is too old", "use 6.2 or newer")
    found = [f"Redis {version}"]
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(f"maxmemory-policy is {policy}: runs may be evicted, use noeviction")
    if info.get("aof_enabled") == "0":
        found.append(
            "appendonly is off: if the server breaks down, it loses what it had not saved yet"
        )
    return "; ".join(found)


async def _info(client: RedisClient) -> Mapping[str, str]:
    text = cast("bytes", await client.execute_command("INFO")).decode(errors="replace")
    pairs = (line.partition(":") for line in text.splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in pairs}


LATEST = 500
"""Runs that a search reads at most, the newest: few servers have a search module."""


class RedisStorage(RepairingStore):
    """A `ThoughtStore` on a Redis server (6.2 or newer) that many processes share.

    What an append that has returned survives is up to the server: with `appendonly yes` and
    `appendfsync always` it survives the end of the server too. The server is reached on first use.
    A search reads the latest 500 runs.

    Args:
        url: `redis://`, `rediss://` or `unix://`, as redis-py understands them; with `?ttl=7d` and
            `&prefix=sifaka` if wanted.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of all keys, instead of the URL's.
        ttl: Seconds after its last entry that a run is forgotten, instead of the URL's.

    Raises:
        ConfigurationError: The URL, the prefix or the time to live cannot be used.
    """

    latest = LATEST

    def __init__(
        self,
        url: str,
        *,
        tenant: str = "default",
        prefix: str | None = None,
        ttl: float | None = None,
    ) -> None:
        address = parse_store_url(url, REDIS, prefix=prefix, ttl=ttl)
        super().__init__(tenant)
        self.prefix, self.ttl = address.prefix, address.ttl
        self.connections = RedisConnections(address)

    @property
    def place(self) -> str:
        """Its URL, without secrets."""
        return self.connections.address.place

    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        # It may be sent twice when an answer is lost on its way: the server knows it again.
        payloads = encode_entries(run, entries, expected_version)
        answer, number = cast(
            "tuple[bytes, int]",
            await self.connections.run(
                lambda client: run_script(
                    client,
                    APPEND,
                    self._keys_of(run.run_id),
                    expected_version,
                    "" if fence is None else fence,
                    "" if self.ttl is None else max(1, round(self.ttl * 1000)),
                    to_microseconds(run.updated_at),
                    _member(run.run_id),
                    run.summary().model_dump_json(),
                    *payloads,
                )
            ),
        )
        match answer:
            case b"FENCED":
                raise Fenced(run.run_id, fence=fence or 0, current=number)
            case b"CONFLICT":
                raise VersionConflict(run.run_id, expected=expected_version, found=number)
            case b"DAMAGED":
                raise missing(run.run_id, number + 1)
            case _:  # OK, and DUP: done already
                pass

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`. A claim does not make a run live longer."""
        keys = (self._keys.run(run_id),)
        number = cast(
            "int", await self.connections.run(lambda client: run_script(client, CLAIM, keys))
        )
        if number == 0:
            raise ThoughtNotFound(run_id)
        return number

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry; see `ThoughtStore.load`."""
        keys = self._keys
        version, stored = await self.connections.run(
            lambda client: between_versions(
                client, keys, run_id, "XRANGE", keys.entries(run_id), "-", "+"
            )
        )
        if sum(len(each) for _, fields in stored for each in fields) <= _SHORT:
            return replay(run_id, version, stored)
        return await to_thread.run_sync(replay, run_id, version, stored)

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `ThoughtStore.follow`.

        It has a connection of its own.
        """
        return follow_stream(self.connections, self._keys, run_id, after=after)

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        page = partial(list_recent, keys=self._keys, limit=limit, cursor=cursor)
        return await self.connections.run(page)

    async def delete(self, run_id: str) -> None:
        """Forget a run; see `ThoughtStore.delete`."""
        self._acknowledged.evict(self.tenant, run_id)
        keys, member = self._keys_of(run_id), _member(run_id)
        await self.connections.run(lambda client: run_script(client, DELETE, keys, member))

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete runs, each in one step; see `Eraser`. What files of the server hold is its own."""
        if not lines:
            return frozenset()

        async def forget(client: RedisClient) -> list[int]:
            together = client.pipeline(transaction=False)
            for line in lines:
                keys = self._keys_of(line.run_id)
                about = (_member(line.run_id), to_microseconds(line.updated_at))
                together.execute_command("EVAL", DELETE, len(keys), *keys, *about)
            return await together.execute()

        answers = await self.connections.run(forget)
        changed = zip(lines, answers, strict=True)
        stayed = frozenset(line.run_id for line, deleted in changed if not deleted)
        gone = (line.run_id for line in lines if line.run_id not in stayed)
        self._acknowledged.evict(self.tenant, *gone)
        return stayed

    async def catch_up(self) -> int:
        """Bring back what the server has lost, and take expired runs out of the list."""
        await super().catch_up()
        return await self.connections.run(partial(prune_oldest, keys=self._keys))

    async def health(self) -> tuple[Health, ...]:
        """The health of the server, and of its settings for keeping runs."""

        async def look() -> str:
            await self.connections.run(lambda client: client.execute_command("PING"))
            try:
                info = await self.connections.run(_info)
            except StorageError:
                return "Redis, which tells this user nothing about it"
            return judge(info)

        return (await look_at(self.connections.address.shown, look),)

    async def _release(self) -> None:
        await self.connections.aclose()

    async def _identity(self) -> str:
        return (await self.connections.run(_info)).get("run_id", "")

    @property
    def _keys(self) -> Keys:
        return Keys(self.prefix, self.tenant)

    def _keys_of(self, run_id: str) -> tuple[str, ...]:
        """The keys that a change to a run touches, in the order of the scripts."""
        keys = self._keys
        return keys.run(run_id), keys.entries(run_id), keys.recent


def _member(run_id: str) -> bytes:
    # As the keys are: an id that is not valid Unicode names nothing, and is not an error here.
    return run_id.encode(errors="surrogatepass")
