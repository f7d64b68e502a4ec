"""Records in Redis lists, through the tools of the official `redis-mcp-server`."""

import ast
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast
from urllib.parse import quote

from sifaka.storage.cursor import Position
from sifaka.storage.tool_backed.caller import ToolCaller, unexpected


class RunList(NamedTuple):
    """A tenant and one of its runs."""

    tenant: str
    run_id: str


class RedisLists:
    """Redis lists of records, one a run; a sorted set and a hash are the list of runs.

    Values are made by `pack`. Every method raises `StorageError` when the database fails.
    """

    def __init__(self, caller: ToolCaller, prefix: str) -> None:
        self._caller = caller
        self._prefix = prefix

    async def read(self, key: RunList, start: int) -> Sequence[tuple[int, str]]:
        """The records of a run from a position on: one call, whatever their number."""
        name = self._run(key)
        answer = await self._caller.call("lrange", {"name": name, "start": start, "stop": -1})
        if answer == f"List '{name}' is empty or does not exist.":
            return ()
        try:
            return list(enumerate(cast("list[str]", json.loads(answer)), start))
        except ValueError:
            raise unexpected("lrange", answer) from None

    async def push(self, key: RunList, value: str) -> None:
        """Add a record at the end, wherever that is."""
        name = self._run(key)
        pushed = f"Value '{value}' pushed to the right of list '{name}'."
        await self._do("rpush", {"name": name, "value": value}, pushed)

    async def list_run(self, key: RunList, at: int, line: str) -> None:
        """Write a run's line, made by `pack`, then its place: microseconds of its last entry."""
        lines = self._of(key.tenant, "lines")
        await self._do(
            "hset",
            {"name": lines, "key": key.run_id, "value": line},
            f"Field '{key.run_id}' set successfully in hash '{lines}'.",
        )
        recent = self._of(key.tenant, "recent")
        await self._do(
            "zadd",
            # Microseconds are exact as the doubles that scores are until the year 2255.
            {"key": recent, "score": at, "member": key.run_id},
            f"Successfully added {key.run_id} to {recent} with score ",
        )

    async def newest(
        self, tenant: str, before: Position, limit: int
    ) -> Sequence[tuple[Position, str | None]]:
        """The places of the newest runs that come after this one in the list, with their lines."""
        behind = (place for place in await self._places(tenant) if place < before)
        lines = self._of(tenant, "lines")
        return [
            (place, await self._line(lines, place[1]))
            for place in sorted(behind, reverse=True)[:limit]
        ]

    async def forget(self, key: RunList) -> None:
        """Remove the log first: a line without one is passed over, a log without one is not."""
        run, recent = self._run(key), self._of(key.tenant, "recent")
        lines, id_ = self._of(key.tenant, "lines"), key.run_id
        await self._do(
            "delete", {"key": run}, f"Successfully deleted {run}", f"Key {run} not found"
        )
        await self._do(
            "zrem",
            {"key": recent, "member": id_},
            f"Successfully removed {id_} from {recent}",
            f"Member {id_} not found in {recent}",
        )
        await self._do(
            "hdel",
            {"name": lines, "key": id_},
            f"Field '{id_}' deleted from hash '{lines}'.",
            f"Field '{id_}' not found in hash '{lines}'.",
        )

    async def info(self) -> Mapping[str, str]:
        """What the server says of itself: its version, and which start of it this is."""
        answer = await self._caller.call("info", {"section": "server"})
        try:
            said = json.loads(answer)
            return {name: str(said[name]) for name in ("redis_version", "run_id")}
        except (ValueError, TypeError, KeyError):
            raise unexpected("info", answer) from None

    def _run(self, key: RunList) -> str:
        return f"{self._of(key.tenant, 'run')}:{key.run_id}"

    def _of(self, tenant: str, part: str) -> str:
        # A tenant's name is quoted, so that no colon in it makes it another tenant's.
        return f"{self._prefix}:{part}:{quote(tenant, safe='')}"

    async def _places(self, tenant: str) -> Sequence[Position]:
        """The whole list, in one call: one that is read in parts may change between them."""
        name = self._of(tenant, "recent")
        arguments = {"key": name, "start": 0, "end": -1, "with_scores": True}
        answer = await self._caller.call("zrange", arguments)
        if answer == f"Sorted set {name} is empty or does not exist":
            return ()
        try:
            # The answer is a list as Python prints it.
            pairs = cast("list[tuple[str, float]]", ast.literal_eval(answer))
            return [(int(score), member) for member, score in pairs]
        except (ValueError, SyntaxError, TypeError):
            raise unexpected("zrange", answer) from None

    async def _line(self, lines: str, run_id: str) -> str | None:
        answer = await self._caller.call("hget", {"name": lines, "key": run_id})
        if answer == f"Field '{run_id}' not found in hash '{lines}'.":
            return None
        if answer.startswith("Error "):
            raise unexpected("hget", answer)
        return answer

    async def _do(self, tool: str, arguments: dict[str, object], *expected: str) -> None:
        answer = await self._caller.call(tool, arguments)
        if not answer.startswith(expected):
            raise unexpected(tool, answer)
