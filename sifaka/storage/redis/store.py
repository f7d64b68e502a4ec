"""A store in Redis: its keys, the Lua scripts that change them in one step, and how they are read.

The keys of one tenant share a hash tag, so a cluster keeps them together. The entries are a stream,
which wakes those who wait for the next one; unlike publish/subscribe, a follower that was cut off
goes on where it was.
"""

import logging
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, cast
from urllib.parse import quote

import anyio
from pydantic import ValidationError

from sifaka.errors import Fenced, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.address import REDIS, parse_store_url
from sifaka.storage.cursor import cut_page, decode_cursor, to_microseconds
from sifaka.storage.entry_json import apply_entry, decode_entries, encode_entries, replay_run
from sifaka.storage.log import look_at
from sifaka.storage.protocol import Health, RunPage
from sifaka.storage.redis.connections import RedisClient, RedisConnections, failures
from sifaka.storage.store import ErasingStore

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Keys:
    """Names for one tenant's keys, all of which begin with `<prefix>:run:{<tenant>}:`."""

    prefix: str
    tenant: str

    @property
    def recent(self) -> str:
        """Sorted set: the ids of all runs by the microseconds of their last entry."""
        return self._key_of("recent")

    def run(self, run_id: str) -> str:
        """Hash: `version`, `fence`, `summary`."""
        # Quoted, no id contains a colon or a brace: none is another key's name or another tenant's
        # tag.
        return self._key_of("%72ecent" if run_id == "recent" else _quote_text(run_id))

    def entries(self, run_id: str) -> str:
        """Stream: entry number n under the id `<n>-0`, its JSON in the field `e`."""
        return f"{self.run(run_id)}:it"

    def touched(self, run_id: str) -> tuple[str, ...]:
        """The keys that a change to a run touches, in the order of the scripts."""
        return self.run(run_id), self.entries(run_id), self.recent

    def _key_of(self, name: str) -> str:
        return f"{self.prefix}:run:{{{_quote_text(self.tenant)}}}:{name}"


def _quote_text(text: str) -> str:
    # Any Python string has a name of its own, also one that is not valid Unicode: what is unknown
    # is then simply not there.
    return quote(text, safe="", errors="surrogatepass")


def run_script(
    client: RedisClient, script: str, keys: tuple[str, ...], *arguments: str | bytes | float
) -> Any:
    """The answer of a Lua script."""
    # The whole text each time: it is short, and the server recognises its digest.
    return client.execute_command("EVAL", script, len(keys), *keys, *arguments)


APPEND = """
-- KEYS: run, entries, recent
-- ARGV: expected version, fence or '', milliseconds to live or '', microseconds of the last entry,
--       id, summary, then each entry
local run, stream = KEYS[1], KEYS[2]
local expected, fence, ttl = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local held = tonumber(redis.call('HGET', run, 'version') or 0)
local current = tonumber(redis.call('HGET', run, 'fence') or 0)
local first, count = 7, #ARGV - 6

if count > 0 and held >= expected + count then
  local same = true
  for i = 0, count - 1 do
    local id = (expected + 1 + i) .. '-0'
    local found = redis.call('XRANGE', stream, id, id)[1]
    if not found or found[2][2] ~= ARGV[first + i] then
      same = false
      break
    end
  end
  if same then return {'DUP', held} end
end
if fence ~= '' and tonumber(fence) < current then return {'FENCED', current} end
if held ~= expected then return {'CONFLICT', held} end
local there = redis.call('XLEN', stream)
if there ~= held then return {'DAMAGED', there} end

for i = 0, count - 1 do
  redis.call('XADD', stream, (expected + 1 + i) .. '-0', 'e', ARGV[first + i])
end
redis.call('HSET', run, 'version', held + count, 'summary', ARGV[6])
if fence ~= '' and tonumber(fence) > current then
  redis.call('HSET', run, 'fence', fence) -- the server has lost the claim
end
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[5])
if ttl ~= '' then
  redis.call('PEXPIRE', run, ttl)
  redis.call('PEXPIRE', stream, ttl)
end
return {'OK', held + count}
"""
"""Append entries, unless these or other ones are there, or the writer was fenced off.

Answers a word and a number: `OK` or `DUP` and the version, `FENCED` and the claim that holds,
`CONFLICT` and the version that was found, `DAMAGED` and how many entries are left of it.
"""

CLAIM = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HINCRBY', KEYS[1], 'fence', 1)
"""
"""Give out the next number for a run; 0 for one that is not there. How long it lives stays."""

DELETE = """
-- KEYS: run, entries, recent
-- ARGV: id, and microseconds of the last entry, if another one is not to be deleted
local at = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[1]) or 0)
if ARGV[2] and redis.call('EXISTS', KEYS[1]) == 1 and at ~= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1
"""
"""Forget a run; 0 when it has other entries."""

PRUNE = """
-- KEYS: recent, then runs; ARGV: their ids
local gone = 0
for i = 1, #ARGV do
  if redis.call('EXISTS', KEYS[i + 1]) == 0 then
    gone = gone + redis.call('ZREM', KEYS[1], ARGV[i])
  end
end
return gone
"""
"""Take runs that have expired out of the list; answers how many."""


READ = """
-- KEYS: run, entries; ARGV: a command for the entries, then what it is asked
local version = redis.call('HGET', KEYS[1], 'version')
return version and {tonumber(version), redis.call(ARGV[1], KEYS[2], unpack(ARGV, 2))}
"""
"""The version of a run and something of its entries, both as of one moment; nil without the run.

No transaction, which a server that is out of memory refuses even for reading.
"""


OLDEST = (6, 2)
"""The oldest version of Redis that is supported."""


def judge(info: Mapping[str, str]) -> str:
    """What the server's `INFO` says about its health.

    Raises:
        StorageError: It is too old.
    """
    version = info.get("redis_version", "0")
    if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) < OLDEST:
        raise StorageError(f"Redis {version} is too old", "use 6.2 or newer")
    findings = [f"Redis {version}"]
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        findings.append(f"maxmemory-policy is {policy}: runs may be evicted, use noeviction")
    if info.get("aof_enabled") == "0":
        findings.append(
            "appendonly is off: if the server breaks down, it loses what it had not saved yet"
        )
    return "; ".join(findings)


def _read_info(client: RedisClient) -> Mapping[str, str]:
    text = cast("bytes", client.execute_command("INFO")).decode(errors="replace")
    pairs = (line.partition(":") for line in text.splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in pairs}


LATEST = 500
"""Runs that a search reads at most, the newest: few servers have a search module."""


class RedisStorage(ErasingStore):
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
        self.prefix, self.ttl = address.prefix, address.ttl
        self.connections = RedisConnections(address)
        super().__init__(address.place, tenant, self.connections.aclose)

    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        # It may be sent twice when an answer is lost on its way: the server recognises it.
        payloads = encode_entries(run, entries, expected_version)
        arguments = (
            expected_version,
            "" if fence is None else fence,
            "" if self.ttl is None else max(1, round(self.ttl * 1000)),
            to_microseconds(run.updated_at),
            _encode_id(run.run_id),
            run.summary().model_dump_json(),
            *payloads,
        )
        keys = self._keys.touched(run.run_id)
        answer, number = await self.connections.run(
            lambda client: run_script(client, APPEND, keys, *arguments)
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
        key = self._keys.run(run_id)
        number = await self.connections.run(lambda client: run_script(client, CLAIM, (key,)))
        if number == 0:
            raise ThoughtNotFound(run_id)
        return number

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry; see `ThoughtStore.load`."""
        return await self.connections.run(partial(load_run, keys=self._keys, run_id=run_id))

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, those to come included; see `ThoughtStore.follow`.

        It has a connection of its own.
        """
        return follow_stream(self.connections, self._keys, run_id, after=after)

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        page = partial(list_recent, keys=self._keys, limit=limit, cursor=cursor)
        return await self.connections.run(page)

    async def _remove(self, moments: Mapping[str, datetime | None]) -> frozenset[str]:
        """Forget runs, each in one step. What files of the server hold is its own."""

        def forget(client: RedisClient) -> frozenset[str]:
            together = client.pipeline(transaction=False)
            for run_id, moment in moments.items():
                last = () if moment is None else (to_microseconds(moment),)
                run_script(together, DELETE, self._keys.touched(run_id), _encode_id(run_id), *last)
            answers = zip(moments, together.execute(), strict=True)
            return frozenset(run_id for run_id, deleted in answers if not deleted)

        return await self.connections.run(forget) if moments else frozenset()

    async def catch_up(self) -> int:
        """Bring back what the server has lost, and take expired runs out of the list."""
        await super().catch_up()
        return await self.connections.run(partial(prune_oldest, keys=self._keys))

    async def health(self) -> tuple[Health, ...]:
        """The health of the server, and of its settings for keeping runs."""

        async def look() -> str:
            await self.connections.run(lambda client: client.execute_command("PING"))
            try:
                info = await self.connections.run(_read_info)
            except StorageError:
                return "Redis, which tells this user nothing about it"
            return judge(info)

        return (await look_at(self.connections.address.shown, look),)

    async def _read_identity(self) -> str:
        return (await self.connections.run(_read_info)).get("run_id", "")

    @property
    def _keys(self) -> Keys:
        return Keys(self.prefix, self.tenant)


def _encode_id(run_id: str) -> bytes:
    # As the keys are: an id that is not valid Unicode names nothing, and is not an error here.
    return run_id.encode(errors="surrogatepass")


Stored = Sequence[tuple[bytes, Sequence[bytes]]]
"""Entries as Redis returns them from a stream: their ids, and names and values by turns."""


def read_run(client: RedisClient, keys: Keys, run_id: str, *command: str) -> tuple[int, Any]:
    """The version of a run, and the answer of a command about its entries."""
    answer = run_script(client, READ, keys.touched(run_id), *command)
    if answer is None:
        raise ThoughtNotFound(run_id)
    return answer


def load_run(client: RedisClient, keys: Keys, run_id: str) -> Run:
    """The run, replayed from its entries."""
    version, stored = read_run(client, keys, run_id, "XRANGE", "-", "+")
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


_PRUNED_AT_ONCE = 100
"""Runs that `prune_oldest` looks at in one go."""


def list_recent(client: RedisClient, keys: Keys, *, limit: int, cursor: str | None) -> RunPage:
    """One page of runs, found by their place in the order and not by counting."""
    start, size = decode_cursor(cursor), limit + 1
    while True:
        answer = client.execute_command(
            *("ZREVRANGEBYSCORE", keys.recent, start[0], "-inf", "WITHSCORES"),
            *("LIMIT", 0, size),
        )
        positions = [
            (round(float(score)), member.decode(errors="replace"))
            for member, score in zip(answer[::2], answer[1::2], strict=True)
        ]
        beyond = [run_id for score, run_id in positions if (score, run_id) < start]
        lines = read_summaries(client, keys, beyond)
        if len(lines) > limit or len(positions) < size:
            return cut_page(lines, limit=limit)
        # Those of the very moment of the start come again, and some have no line to show.
        size *= 2


def read_summaries(client: RedisClient, keys: Keys, run_ids: Sequence[str]) -> list[RunSummary]:
    """The lines of the runs that are there and not damaged; what is gone leaves the list."""
    together = client.pipeline(transaction=False)
    for run_id in run_ids:
        together.execute_command("HGET", keys.run(run_id), "summary")
    answers = dict(zip(run_ids, together.execute(raise_on_error=False), strict=True))
    gone = [run_id for run_id, answer in answers.items() if answer is None]
    if gone:
        _prune_runs(client, keys, gone)
    lines = (_decode(run_id, answer) for run_id, answer in answers.items() if answer is not None)
    return [line for line in lines if line]


def _decode(run_id: str, answer: bytes | Exception) -> RunSummary | None:
    # A key of another type is a damaged run, and no other error: one such key would hide the runs
    # of its whole tenant.
    if isinstance(answer, Exception) and not str(answer).startswith("WRONGTYPE"):
        raise answer
    try:
        return RunSummary.model_validate_json(answer if isinstance(answer, bytes) else b"")
    except ValidationError:
        logger.warning("the summary of run %r cannot be read; it is left out of lists", run_id)
        return None


def prune_oldest(client: RedisClient, keys: Keys) -> int:
    """Take expired runs at the end of the list out of it.

    Returns:
        How many there may be left; 0 when the oldest runs are still there.
    """
    oldest: Sequence[bytes] = client.execute_command("ZRANGE", keys.recent, 0, _PRUNED_AT_ONCE - 1)
    if not oldest:
        return 0
    gone = _prune_runs(client, keys, [member.decode(errors="replace") for member in oldest])
    return int(client.execute_command("ZCARD", keys.recent)) if gone == _PRUNED_AT_ONCE else 0


def _prune_runs(client: RedisClient, keys: Keys, run_ids: Sequence[str]) -> int:
    # The script looks again: a run of the same id may have begun since.
    names = (keys.recent, *(keys.run(run_id) for run_id in run_ids))
    return int(run_script(client, PRUNE, names, *(run_id.encode() for run_id in run_ids)))


SLICE = 5.0
"""Seconds that one request waits; after each without an entry the run is looked after."""
_LATE = 5.0
"""Seconds after its time within which requests have to be answered."""
_READ_AT_ONCE = 100


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
    seen = 0
    stored: Stored = ()
    block = ("XREAD", "COUNT", _READ_AT_ONCE, "BLOCK", max(1, round(seconds * 1000)))
    async with connections.blocking() as client:
        while True:
            # The connection itself has no time limit.
            with failures(connections.address.shown), anyio.fail_after(seconds + _LATE):
                if not stored:
                    await connections.run(partial(_check_run, keys, run_id, seen))
                answer = await client.execute_command(
                    *block, "STREAMS", keys.entries(run_id), f"{seen}-0"
                )
            stored = answer[0][1] if answer else ()
            for entry in decode_entries(run_id, payloads(run_id, stored, after=seen), after=seen):
                run = apply_entry(run_id, run, entry)
                if run.version > after:
                    yield entry, run
            seen += len(stored)
            # A run that had ended may have gone on.
            if run is not None and run.finished and len(stored) < _READ_AT_ONCE:
                return


def _check_run(keys: Keys, run_id: str, seen: int, client: RedisClient) -> None:
    """Raise if there is nothing to wait for."""
    version, count = read_run(client, keys, run_id, "XLEN")
    # One with fewer entries than were seen is another run, begun when this one was deleted.
    if version < seen:
        raise ThoughtNotFound(run_id)
    if count < version:
        raise missing(run_id, count + 1)
