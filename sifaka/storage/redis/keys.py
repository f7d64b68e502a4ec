"""The names of all keys, and the Lua scripts that change them, each in one step.

The keys of one tenant share a hash tag, so a cluster keeps them together.
"""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from anyio import CancelScope

from sifaka.storage.redis.connections import RedisClient

_UNRESERVED = re.compile(r"[\w.~-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Keys:
    """Names for one tenant's keys, all of which begin with `<prefix>:run:{<tenant>}:`."""

    prefix: str
    tenant: str

    @property
    def recent(self) -> str:
        """Sorted set: the ids of all runs by the microseconds of their last entry."""
        return self._named("recent")

    def run(self, run_id: str) -> str:
        """Hash: `version`, `fence`, `size` in bytes, `summary`."""
        return self._named(_quoted(run_id))

    def entries(self, run_id: str) -> str:
        """Stream: entry number n under the id `<n>-0`, its JSON in the field `e`."""
        return f"{self.run(run_id)}:it"

    def _named(self, name: str) -> str:
        return f"{self.prefix}:run:{{{_plain(self.tenant)}}}:{name}"


def _quoted(run_id: str) -> str:
    # Quoted, no id contains a colon or a brace: none is another key's name or another tenant's tag.
    return "%72ecent" if run_id == "recent" else _plain(run_id)


def _plain(text: str) -> str:
    # Any Python string has a name of its own, also one that is not valid Unicode: what is unknown
    # is then simply not there.
    if _UNRESERVED.fullmatch(text):  # nearly always, and ten times as fast
        return text
    return quote(text, safe="", errors="surrogatepass")


async def run_script(
    client: RedisClient, script: str, keys: tuple[str, ...], *arguments: str | bytes | float
) -> Any:
    """The answer of a Lua script. A task that is cancelled meanwhile waits for it."""
    # The whole text each time: it is short, and the server knows it again by its digest.
    with CancelScope(shield=True):
        return await client.execute_command("EVAL", script, len(keys), *keys, *arguments)


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

local size = 0
for i = 0, count - 1 do
  redis.call('XADD', stream, (expected + 1 + i) .. '-0', 'e', ARGV[first + i])
  size = size + #ARGV[first + i]
end
redis.call('HSET', run, 'version', held + count, 'summary', ARGV[6])
if fence ~= '' and tonumber(fence) > current then
  redis.call('HSET', run, 'fence', fence) -- the server has lost the claim
end
redis.call('HINCRBY', run, 'size', size)
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
