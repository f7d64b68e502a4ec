"""A store in Redis, through the tools of the official `redis-mcp-server`.

Tools offer no transactions and no compare-and-set, but a database puts what is added to a list into
one order. So every append and every claim is one record that says what it expects, and all readers
agree on which of them count: optimistic concurrency control by the order of a log, as in
Balakrishnan et al., "Tango" (SOSP 2013). A record that does not count stays and is skipped.
"""

import ast
import json
from collections.abc import Mapping, Sequence
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
from sifaka.storage.log import check_append, holds, load_if_readable, look_at
from sifaka.storage.protocol import Health, RunPage
from sifaka.storage.store import PolledStore, RepairingStore
from sifaka.storage.tool_backed.caller import ToolCaller, call_tool, pack, unexpected, unpack
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


@dataclass(slots=True)
class RunLog:
    """The records of a run as far as they were read, and what they amount to."""

    read: int = 0
    """The number of the records."""
    last: str = ""
    """The id of the last one."""
    payloads: list[str] = field(default_factory=list[str])
    """The entries of the records that count."""
    fence: int = 0
    """The number of the claims that count."""
    fences: dict[str, int] = field(default_factory=dict[str, int])
    """The records that count, by id, and the number of claims after each."""

    def add(self, record: LogRecord) -> None:
        """Read the record that comes next."""
        # The same record twice in a row is one whose first answer was lost.
        if record.id != self.last and self.admits(record):
            if record.kind == "append":
                self.payloads += record.payloads
            else:
                self.fence += 1
            self.fences[record.id] = self.fence
        self.read += 1
        self.last = record.id

    def admits(self, record: LogRecord) -> bool:
        """True when a record counts that comes next."""
        if record.kind == "claim":
            return bool(self.payloads)
        fenced = record.fence is not None and record.fence < self.fence
        return record.after == len(self.payloads) and not fenced

    def holds(self, record: LogRecord) -> bool:
        """True when the entries of an append are at their place."""
        return holds(self.payloads, record.payloads, after=record.after)

    def check(self, run_id: str, record: LogRecord) -> None:
        """Check that an append counts that comes next."""
        check_append(
            run_id,
            fence=record.fence,
            current=self.fence,
            expected=record.after,
            found=len(self.payloads),
        )


def decode_record(value: str) -> LogRecord:
    """The record of a stored value."""
    try:
        return LogRecord.model_validate_json(unpack(value))
    except ValueError as error:
        raise StorageError(
            "a record of a run cannot be read", "it was written by a newer release"
        ) from error


LATEST = 200
"""Runs that a search reads, the newest: each costs a call."""


class RedisToolStorage(RepairingStore, PolledStore):
    """A `ThoughtStore` in the Redis that a `redis-mcp-server` (0.5) is connected to.

    A run is one Redis list of records, to which `rpush` adds at the end. That is atomic, and it is
    the order of the list that decides which of two writers was first, so versions and claims hold
    between processes too, without a script. A record counts or not by its place in its list, which
    every reader sees alike. A sorted set is the list of runs. Values are made by `pack`.

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
        super().__init__(name, tenant, caller.aclose)
        self._caller = caller
        self._prefix = prefix
        self._logs: dict[str, RunLog] = {}
        """Each log as far as it was read; one that is not there is read from its beginning."""

    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        payloads = encode_entries(run, entries, expected_version)
        record = LogRecord(kind="append", after=expected_version, payloads=payloads, fence=fence)
        with anyio.CancelScope(shield=True):
            if await self._append_record(run.run_id, record) == run.version:
                recent = self._key("recent")
                # Microseconds are exact as the doubles that scores are until the year 2255.
                position = {"score": to_microseconds(run.updated_at), "member": run.run_id}
                added = f"Successfully added {run.run_id} to {recent} with score "
                await call_tool(self._caller, "zadd", {"key": recent, **position}, added)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        record = LogRecord(kind="claim")
        with anyio.CancelScope(shield=True):
            if self._list_of(run_id) not in self._logs:
                await self._read_existing(run_id)
            log = await self._push_record(run_id, record)
            if record.id in log.fences:
                return log.fences[record.id]
        raise ThoughtNotFound(run_id)  # it was deleted meanwhile

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return replay_run(run_id, (await self._read_existing(run_id)).payloads)

    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version."""
        payloads = (await self._read_existing(run_id)).payloads[version:]
        return tuple(decode_entries(run_id, payloads, after=version))

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        start = decode_cursor(cursor)
        behind = [position for position in await self._list_positions() if position < start]
        page = sorted(behind, reverse=True)[:limit]
        asks = {run_id: partial(load_if_readable, self, run_id) for _, run_id in page}
        runs = await fan_out(asks, calls_each=0, parallel=16)
        more = page and len(behind) > limit
        return RunPage(
            runs=tuple(run.summary() for run in runs if run is not None),
            next_cursor=encode_cursor(page[-1]) if more else None,
        )

    async def delete(self, run_id: str) -> None:
        """Forget a run."""
        self._acknowledged.pop((self.tenant, run_id), None)
        if not is_unicode(run_id):
            return  # no run has an id that cannot be sent
        name, recent = self._list_of(run_id), self._key("recent")
        with anyio.CancelScope(shield=True):
            self._logs.pop(name, None)
            # The log first: a position without one is skipped, a log without one is not.
            await call_tool(
                self._caller,
                "delete",
                {"key": name},
                f"Successfully deleted {name}",
                f"Key {name} not found",
            )
            await call_tool(
                self._caller,
                "zrem",
                {"key": recent, "member": run_id},
                f"Successfully removed {run_id} from {recent}",
                f"Member {run_id} not found in {recent}",
            )

    async def health(self) -> tuple[Health, ...]:
        """The answer of the server behind the tools."""

        async def look() -> str:
            return f"Redis {(await self._read_info())['redis_version']}, by redis-mcp-server"

        return (await look_at(self.place, look),)

    async def _read_identity(self) -> str:
        return (await self._read_info())["run_id"]

    async def _read_info(self) -> Mapping[str, str]:
        """What the server says of itself: its version, and which start of it this is."""
        answer = await self._caller.call("info", {"section": "server"})
        try:
            info = json.loads(answer)
            return {name: str(info[name]) for name in ("redis_version", "run_id")}
        except (ValueError, TypeError, KeyError):
            raise unexpected("info", answer) from None

    async def _list_positions(self) -> Sequence[Position]:
        """The whole list, in one call: one that is read in parts may change between them."""
        name = self._key("recent")
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

    def _list_of(self, run_id: str) -> str:
        """The name of a run's list."""
        return f"{self._key('run')}:{run_id}"

    def _key(self, part: str) -> str:
        # A tenant's name is quoted, so that no colon in it makes it another tenant's.
        return f"{self._prefix}:{part}:{quote(self.tenant, safe='')}"

    async def _append_record(self, run_id: str, record: LogRecord) -> int:
        """Append, and return the number of entries that the run has then."""
        log = self._logs.get(self._list_of(run_id))
        if log is None or not record.payloads or not log.admits(record):
            log = await self._read_log(run_id)
            if record.payloads and log.holds(record):
                return len(log.payloads)
            log.check(run_id, record)
        if record.payloads:
            log = await self._push_record(run_id, record)
            if record.id not in log.fences and not log.holds(record):
                log.check(run_id, record)
                raise VersionConflict(run_id, expected=record.after, found=len(log.payloads))
        return len(log.payloads)

    async def _read_existing(self, run_id: str) -> RunLog:
        log = await self._read_log(run_id) if is_unicode(run_id) else RunLog()
        if not log.payloads:
            raise ThoughtNotFound(run_id)
        return log

    async def _push_record(self, run_id: str, record: LogRecord) -> RunLog:
        """The log after a record was added to it."""
        name, value = self._list_of(run_id), pack(record.model_dump_json())
        pushed = f"Value '{value}' pushed to the right of list '{name}'."
        await call_tool(self._caller, "rpush", {"name": name, "value": value}, pushed)
        return await self._read_log(run_id)

    async def _read_log(self, run_id: str) -> RunLog:
        """The log of a run, read on from where it was read last.

        Where another record is there now, the run was deleted, and perhaps begun anew.
        """
        name = self._list_of(run_id)
        log = self._logs.pop(name, None) or RunLog()
        records = await self._read_records(run_id, max(0, log.read - 1))
        if log.read and (not records or records[0].id != log.last):
            log, records = RunLog(), await self._read_records(run_id, 0)
        # Another task may have read on meanwhile, in the same log.
        log = replace(log, payloads=[*log.payloads], fences={**log.fences})
        for record in records[1:] if log.read else records:
            log.add(record)
        if log.payloads:
            self._logs[name] = log
        while len(self._logs) > 100:  # those at work
            self._logs.pop(next(iter(self._logs)))
        return log

    async def _read_records(self, run_id: str, start: int) -> list[LogRecord]:
        """The records of a run from a position on: one call, whatever their number."""
        name = self._list_of(run_id)
        answer = await self._caller.call("lrange", {"name": name, "start": start, "stop": -1})
        if answer == f"List '{name}' is empty or does not exist.":
            return []
        try:
            return [decode_record(value) for value in json.loads(answer)]
        except ValueError:
            raise unexpected("lrange", answer) from None
