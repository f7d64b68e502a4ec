"""The log of runs in Redis: a stream for each run, on which its followers wait."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import cast

from anyio import to_thread

from sifaka.errors import Fenced, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.lifetime import checked_ttl
from sifaka.storage.log import Health, RunPage
from sifaka.storage.redis.address import DEFAULT_PREFIX, checked_prefix, parse_address
from sifaka.storage.redis.connections import RedisClient, RedisConnections
from sifaka.storage.redis.follow import StreamFollower
from sifaka.storage.redis.health import inspect
from sifaka.storage.redis.keys import Keys
from sifaka.storage.redis.read import fold, missing, read_entries
from sifaka.storage.redis.recent import list_recent, prune_oldest
from sifaka.storage.redis.scripts import APPEND, CLAIM, DELETE
from sifaka.storage.timestamps import to_microseconds


class RedisLog:
    """A `RunLog` on a Redis server (6.2 or newer) that many processes share.

    What an append that has returned survives is up to the server: with `appendonly yes` and
    `appendfsync always` it survives the end of the server too. The server is reached on first use.

    Args:
        url: `redis://`, `rediss://` or `unix://`, as redis-py understands them.
        tenant: The tenant whose runs are seen.
        prefix: What all keys begin with.
        ttl: Seconds after its last entry that a run is forgotten; None keeps it.
        connections: The connections to share, for a view of a log that is already there.

    Raises:
        ConfigurationError: The URL, the prefix or the time to live cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        tenant: str = "default",
        prefix: str = DEFAULT_PREFIX,
        ttl: float | None = None,
        connections: RedisConnections | None = None,
    ) -> None:
        self.tenant = tenant
        self.prefix = checked_prefix(prefix)
        self.ttl = None if ttl is None else checked_ttl(ttl)
        self._url = url
        self._keys = Keys(prefix, tenant)
        self._owned = connections is None
        self.connections = connections or RedisConnections(parse_address(url))

    @property
    def place(self) -> str:
        """Its URL, without secrets."""
        shown = self.connections.address.shown
        return shown if self.prefix == DEFAULT_PREFIX else f"{shown}?prefix={self.prefix}"

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `RunLog.append`.

        It may be sent twice when an answer is lost on its way: the server knows it again.
        """
        payloads = encode_entries(run, entries, expected_version)
        answer, number = cast(
            "tuple[bytes, int]",
            await self.connections.run(
                lambda client: APPEND.run(
                    client,
                    self._keys_of(run.run_id, run.branch_of),
                    expected_version,
                    "" if fence is None else fence,
                    "" if self.ttl is None else max(1, round(self.ttl * 1000)),
                    to_microseconds(run.updated_at),
                    _member(run.run_id),
                    run.summary().model_dump_json(),
                    json.dumps(run.tags),
                    _member(run.branch_of or ""),
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
                return

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `RunLog.claim`. A claim does not make a run live longer."""
        number = cast(
            "int",
            await self.connections.run(lambda client: CLAIM.run(client, (self._keys.run(run_id),))),
        )
        if number == 0:
            raise ThoughtNotFound(run_id)
        return number

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry; see `RunLog.load`."""
        version, stored = await self.connections.run(
            lambda client: read_entries(client, self._keys, run_id)
        )
        return await to_thread.run_sync(fold, run_id, version, stored)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `RunLog.follow`.

        It has a connection of its own, and outlives a minute without a server.
        """
        follower = StreamFollower(self.connections, self._keys, run_id)
        async with aclosing(follower.follow(after=after)) as steps:
            async for step in steps:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        return await self.connections.run(
            lambda client: list_recent(client, self._keys, limit=limit, cursor=cursor)
        )

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON."""
        size = cast(
            "bytes | None",
            await self.connections.run(
                lambda client: client.execute_command("HGET", self._keys.run(run_id), "size")
            ),
        )
        if size is None:
            raise ThoughtNotFound(run_id)
        return int(size)

    async def delete(self, run_id: str) -> None:
        """Forget a run; see `RunLog.delete`."""

        async def forget(client: RedisClient) -> None:
            parent = cast(
                "bytes | None",
                await client.execute_command("HGET", self._keys.run(run_id), "branch_of"),
            )
            branch_of = None if parent is None else parent.decode()
            await DELETE.run(client, self._keys_of(run_id, branch_of), _member(run_id))

        await self.connections.run(forget)

    async def children(self, run_id: str) -> tuple[str, ...]:
        """The ids of the runs that branched off this one, in alphabetical order."""
        members = cast(
            "Sequence[bytes]",
            await self.connections.run(
                lambda client: client.execute_command("SMEMBERS", self._keys.children(run_id))
            ),
        )
        return tuple(sorted(member.decode() for member in members))

    async def catch_up(self) -> int:
        """Take runs that have expired out of the list, some at a time."""
        return await self.connections.run(lambda client: prune_oldest(client, self._keys))

    async def health(self) -> tuple[Health, ...]:
        """The health of the server, and of its settings for keeping runs."""
        return (await inspect(self.connections),)

    def scoped(self, tenant: str) -> "RedisLog":
        """The same server as another tenant sees it, over the same connections."""
        return RedisLog(
            self._url,
            tenant=tenant,
            prefix=self.prefix,
            ttl=self.ttl,
            connections=self.connections,
        )

    async def aclose(self) -> None:
        """Close the connections, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self.connections.aclose()

    def _keys_of(self, run_id: str, branch_of: str | None) -> tuple[str, ...]:
        """The keys that a change to a run touches, in the order of the scripts."""
        keys = self._keys
        own = (keys.run(run_id), keys.entries(run_id), keys.children(run_id), keys.recent)
        return own if branch_of is None else (*own, keys.children(branch_of))


def _member(run_id: str) -> bytes:
    # As the keys are: an id that is not valid Unicode names nothing, and is not an error here.
    return run_id.encode(errors="surrogatepass")
