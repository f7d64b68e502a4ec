"""A store in Redis, through the tools of the official `redis-mcp-server`.

Tools offer no transactions and no compare-and-set, but a database puts what is added to a list into
one order. So every append and every claim is one record that says what it expects, and all readers
agree on which of them count: optimistic concurrency control by the order of a log, as in
Balakrishnan et al., "Tango" (SOSP 2013). A record that does not count stays and is passed over.
"""

import ast
import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, cast
from urllib.parse import quote
from uuid import uuid4

import anyio
from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import fan_out
from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cursor import Position, decode_cursor, encode_cursor, to_microseconds
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.log import check_append, follow_by_polling, holds, load_if_readable, look_at
from sifaka.storage.log_repair import RepairingStore
from sifaka.storage.protocol import Health, RunPage
from sifaka.storage.tool_backed.caller import ToolCaller, pack, unexpected, unpack
from sifaka.text.input import is_unicode


class LogRecord(Frozen):
    """One append or one claim."""

    kind: Literal["append", "claim"]
    id: str = Field(default_factory=lambda: uuid4().hex)
    """The record's own id, so that one added twice counts once."""
    after: int = 0
    """The number of entries that the run has to have before."""
    payloads: tuple[str, ...] = ()
    """The entries as JSON."""
    fence: int | None = None
    """The claim that the entries are written under; None for any claim."""


@dataclass(frozen=True, slots=True)
class LogState:
    """The state of a log up to a position."""

    position: int = -1
    last: str = ""
    """The id of the record there."""
    version: int = 0
    """The number of the run's entries."""
    fence: int = 0
    """The number of its claims."""

    def admits(self, record: LogRecord) -> bool:
        """True when a record counts that comes next."""
        if record.kind != "append":
            return self.version > 0
        fenced = record.fence is not None and record.fence < self.fence
        return record.after == self.version and not fenced


@dataclass(frozen=True, slots=True)
class Folded:
    """A log, or the end of one, that was read."""

    state: LogState
    payloads: Sequence[str] = ()
    """The entries of the records that count."""
    fences: Mapping[str, int] = field(default_factory=dict[str, int])
    """The records that count, by id, and the number of claims after each."""

    def holds(self, record: LogRecord) -> bool:
        """True when these entries are at their place in this log, read from its beginning."""
        return holds(self.payloads, record.payloads, after=record.after)

    def check(self, run_id: str, record: LogRecord) -> None:
        """Check that an append counts."""
        check_append(
            run_id,
            fence=record.fence,
            current=self.state.fence,
            expected=record.after,
            found=self.state.version,
        )


def fold(records: Iterable[tuple[int, LogRecord]], start: LogState | None = None) -> Folded:
    """The state and the entries after some records, each with its position in the log."""
    state = start or LogState()
    payloads: list[str] = []
    fences: dict[str, int] = {}
    for position, record in records:
        version, fence = state.version, state.fence
        # The same record twice in a row is one whose first answer was lost.
        if record.id != state.last and state.admits(record):
            if record.kind == "append":
                version += len(record.payloads)
                payloads += record.payloads
            else:
                fence += 1
            fences[record.id] = fence
        state = LogState(position, record.id, version, fence)
    return Folded(state, payloads, fences)


def decode_record(value: str) -> LogRecord:
    """The record of a stored value."""
    try:
        return LogRecord.model_validate_json(unpack(value))
    except ValueError as error:
        raise StorageError(
            "a record of a run cannot be read", "it was written by a newer release"
        ) from error


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


LATEST = 200
"""Runs that a search reads, the newest: each costs a call."""
_REMEMBERED = 1_000
"""Runs whose states are kept, to append without reading a whole log again."""
_AT_ONCE = 16
"""Runs of a list that are read at the same time."""


class RedisToolStorage(RepairingStore):
    """A `ThoughtStore` in the Redis that a `redis-mcp-server` (0.5) is connected to.

    A run is one Redis list of records, to which `rpush` adds at the end. That is atomic, and it is
    the order of the list that decides which of two writers was first, so versions and claims hold
    between processes too, without a script. A record counts or not by its place in its list, which
    every reader sees alike.

    The list of runs is another step: a process that is killed between the two leaves a new run out
    of the list, though not lost, until the append is repeated. Nothing expires. A search reads the
    latest 200 runs.

    Args:
        caller: The session with that server; it is closed with the store.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of the keys.
        name: Its place, as `health` calls it.
    """

    latest = LATEST

    def __init__(
        self,
        caller: ToolCaller,
        *,
        tenant: str = "default",
        prefix: str = "sifaka",
        name: str = "redis+mcp:",
    ) -> None:
        super().__init__(tenant)
        self._name = name
        self._caller = caller
        self._prefix = prefix
        self._states: dict[str, LogState] = {}
        """The state of each log when it was last read; an old one only costs another reading."""

    @property
    def place(self) -> str:
        """The command of the server, without secrets."""
        return self._name

    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        payloads = encode_entries(run, entries, expected_version)
        record = LogRecord(kind="append", after=expected_version, payloads=payloads, fence=fence)
        with anyio.CancelScope(shield=True):
            if await self._add(run.run_id, record) == run.version:
                await self._lists.list_run(run.run_id, to_microseconds(run.updated_at))

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        record = LogRecord(kind="claim")
        with anyio.CancelScope(shield=True):
            state = (
                self._states.get(self._lists.run(run_id)) or (await self._existing(run_id)).state
            )
            pushed = await self._push(run_id, state, record)
            if record.id in pushed.fences:
                return pushed.fences[record.id]
        raise ThoughtNotFound(run_id)  # it was deleted meanwhile

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return replay_run(run_id, (await self._existing(run_id)).payloads)

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, found by looking again; see `ThoughtStore.follow`."""
        state = LogState()

        async def read(known: int) -> Sequence[Entry]:
            nonlocal state
            folded = await self._since(run_id, state)
            if not folded.state.version:
                raise ThoughtNotFound(run_id)
            state = folded.state
            return tuple(decode_entries(run_id, folded.payloads, after=known))

        return follow_by_polling(run_id, read, after=after)

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        found = await self._lists.newest(decode_cursor(cursor), limit + 1)
        page = found[:limit]
        asks = {run_id: partial(load_if_readable, self, run_id) for _, run_id in page}
        runs = await fan_out(asks, calls_each=0, parallel=_AT_ONCE)
        more = page and len(found) > limit
        return RunPage(
            runs=tuple(run.summary() for run in runs if run is not None),
            next_cursor=encode_cursor(page[-1]) if more else None,
        )

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON, before they are compressed."""
        return sum(len(payload.encode()) for payload in (await self._existing(run_id)).payloads)

    async def delete(self, run_id: str) -> None:
        """Forget a run."""
        self._forget((run_id,))
        if not is_unicode(run_id):
            return  # no run has an id that cannot be sent
        with anyio.CancelScope(shield=True):
            self._states.pop(self._lists.run(run_id), None)
            await self._lists.forget(run_id)

    async def health(self) -> tuple[Health, ...]:
        """The answer of the server behind the tools."""

        async def look() -> str:
            return f"Redis {(await self._lists.info())['redis_version']}, by redis-mcp-server"

        return (await look_at(self._name, look),)

    async def _identity(self) -> str:
        return (await self._lists.info())["run_id"]

    async def _release(self) -> None:
        await self._caller.aclose()

    @property
    def _lists(self) -> RedisLists:
        """The lists of the tenant."""
        return RedisLists(self._caller, self._prefix, self.tenant)

    async def _add(self, run_id: str, record: LogRecord) -> int:
        """Append, and return the number of entries that the run has then."""
        state = self._states.get(self._lists.run(run_id))
        if state is None or not record.payloads or not state.admits(record):
            known = await self._read(run_id)
            if record.payloads and known.holds(record):
                return known.state.version
            known.check(run_id, record)
            state = known.state
        if not record.payloads:
            return state.version
        pushed = await self._push(run_id, state, record)
        if record.id not in pushed.fences:
            known = await self._read(run_id)
            if not known.holds(record):
                known.check(run_id, record)
                raise VersionConflict(run_id, expected=record.after, found=pushed.state.version)
        return pushed.state.version

    async def _existing(self, run_id: str) -> Folded:
        if not is_unicode(run_id):
            raise ThoughtNotFound(run_id)
        known = await self._read(run_id)
        if not known.state.version:
            raise ThoughtNotFound(run_id)
        return known

    async def _push(self, run_id: str, state: LogState, record: LogRecord) -> Folded:
        """Add a record, and read the records since the state."""
        await self._lists.push(run_id, pack(record.model_dump_json()))
        return await self._since(run_id, state)

    async def _read(self, run_id: str) -> Folded:
        """A whole log."""
        return self._note(run_id, fold(await self._records(run_id, 0)))

    async def _since(self, run_id: str, state: LogState) -> Folded:
        """The end of a log after a state, whose last record is read again.

        Where that one is another now, the run was deleted, and perhaps begun anew.
        """
        if state.position < 0:
            return await self._read(run_id)
        records = await self._records(run_id, state.position)
        if records and records[0][1].id == state.last:
            return self._note(run_id, fold(records[1:], state))
        again = await self._read(run_id)
        return replace(again, payloads=again.payloads[state.version :])

    async def _records(self, run_id: str, start: int) -> list[tuple[int, LogRecord]]:
        values = await self._lists.read(run_id, start)
        return [(position, decode_record(value)) for position, value in values]

    def _note(self, run_id: str, folded: Folded) -> Folded:
        name = self._lists.run(run_id)
        self._states.pop(name, None)
        if folded.state.version:
            self._states[name] = folded.state
        while len(self._states) > _REMEMBERED:
            self._states.pop(next(iter(self._states)))
        return folded
