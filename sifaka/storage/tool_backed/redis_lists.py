"""Records in Redis lists, through the tools of the official `redis-mcp-server`."""

import ast
import json
from collections.abc import Mapping, Sequence
from typing import cast
from urllib.parse import quote

from sifaka.storage.cursor import Position
from sifaka.storage.tool_backed.caller import ToolCaller, unexpected


class RedisLists:
    """Redis lists of a tenant's records, one a run; a sorted set is the list of runs.

    Values are made by `pack`. Every method raises `StorageError` when the database fails.
    """

    def __init__(self, caller: ToolCaller, prefix: str, tenant: str) -> None:
        self._caller = caller
        self._prefix = prefix
        self._tenant = tenant

    async def read(self, run_id: str, start: int) -> Sequence[tuple[int, str]]:
        """The records of a run from a position on: one call, whatever their number."""
        name = self.run(run_id)
        answer = await self._caller.call("lrange", {"name": name, "start": start, "stop": -1})
        if answer == f"List '{name}' is empty or does not exist.":
            return ()
        try:
            return list(enumerate(cast("list[str]", json.loads(answer)), start))
        except ValueError:
            raise unexpected("lrange", answer) from None

    async def push(self, run_id: str, value: str) -> None:
        """Add a record at the end, wherever that is."""
        name = self.run(run_id)
        pushed = f"Value '{value}' pushed to the right of list '{name}'."
        await self._do("rpush", {"name": name, "value": value}, pushed)

    async def list_run(self, run_id: str, at: int) -> None:
        """Give a run its place in the list: the microseconds of its last entry."""
        recent = self._of("recent")
        await self._do(
            "zadd",
            # Microseconds are exact as the doubles that scores are until the year 2255.
            {"key": recent, "score": at, "member": run_id},
            f"Successfully added {run_id} to {recent} with score ",
        )

    async def newest(self, before: Position, limit: int) -> Sequence[Position]:
        """The places of the newest runs that come after this one in the list."""
        behind = (place for place in await self._places() if place < before)
        return sorted(behind, reverse=True)[:limit]

    async def forget(self, run_id: str) -> None:
        """Remove the log first: a place without one is passed over, a log without one is not."""
        run, recent = self.run(run_id), self._of("recent")
        await self._do(
            "delete", {"key": run}, f"Successfully deleted {run}", f"Key {run} not found"
        )
        await self._do(
            "zrem",
            {"key": recent, "member": run_id},
            f"Successfully removed {run_id} from {recent}",
            f"Member {run_id} not found in {recent}",
        )

    async def info(self) -> Mapping[str, str]:
        """What the server says of itself: its version, and which start of it this is."""
        answer = await self._caller.call("info", {"section": "server"})
        try:
            said = json.loads(answer)
            return {name: str(said[name]) for name in ("redis_version", "run_id")}
        except (ValueError, TypeError, KeyError):
            raise unexpected("info", answer) from None

    def run(self, run_id: str) -> str:
        """The name of a run's list."""
        return f"{self._of('run')}:{run_id}"

    def _of(self, part: str) -> str:
        # A tenant's name is quoted, so that no colon in it makes it another tenant's.
        return f"{self._prefix}:{part}:{quote(self._tenant, safe='')}"

    async def _places(self) -> Sequence[Position]:
        """The whole list, in one call: one that is read in parts may change between them."""
        name = self._of("recent")
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

    async def _do(self, tool: str, arguments: dict[str, object], *expected: str) -> None:
        answer = await self._caller.call(tool, arguments)
        if not answer.startswith(expected):
            raise unexpected(tool, answer)
