"""The log of runs in Redis, through the tools of the official `redis-mcp-server`."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import anyio

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import decode_cursor, encode_cursor
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.log import Health, RunPage, follow_by_polling
from sifaka.storage.store import LogStore
from sifaka.storage.timestamps import to_microseconds
from sifaka.storage.tool_backed.caller import ToolCaller
from sifaka.storage.tool_backed.envelope import pack, unpack
from sifaka.storage.tool_backed.records import Folded, LogRecord, LogState
from sifaka.storage.tool_backed.redis_lists import Listing, RedisLists, RunList
from sifaka.storage.tool_backed.shared import SharedLists
from sifaka.text.input import is_unicode

LATEST = 200
"""Runs that a search reads, the newest: each costs a call."""
_HEALTH_SECONDS = 5
logger = logging.getLogger(__name__)


class RedisToolLog:
    """A `RunLog` in the Redis that a `redis-mcp-server` (0.5) is connected to.

    A run is one Redis list of records, to which `rpush` adds at the end. That is atomic, and it is
    the order of the list that decides which of two writers was first, so versions and claims hold
    between processes too, without a script. A record counts or not by its place in its list, which
    every reader sees alike. Within an event loop a lock for each run keeps late writers from
    writing at all.

    The list of runs is another step: its line about a run that two processes write to can be the
    one before the last until the next append, and a process that is killed between the two leaves a
    new run out of the list, though not lost, until the append is repeated. Nothing expires.

    Args:
        caller: The session with that server; it is closed with the log.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of the keys.
        name: Its place, as `health` calls it.
        shared: The session and the known runs, for a view of a log that is already there.
    """

    def __init__(
        self,
        caller: ToolCaller,
        *,
        tenant: str = "default",
        prefix: str = "sifaka",
        name: str = "redis+mcp:",
        shared: SharedLists | None = None,
    ) -> None:
        self.tenant = tenant
        self._caller = caller
        self._owned = shared is None
        self._shared = shared or SharedLists(caller, RedisLists(caller, prefix), name)

    @property
    def place(self) -> str:
        """The command of the server, without secrets."""
        return self._shared.name

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Add entries, all or none; see `RunLog.append`."""
        payloads = encode_entries(run, entries, expected_version)
        record = LogRecord(kind="append", after=expected_version, payloads=payloads, fence=fence)
        line = pack(run.summary().model_dump_json())
        listing = Listing(to_microseconds(run.updated_at), line)
        key = self._key(run.run_id)
        with anyio.CancelScope(shield=True):
            async with self._shared.lock(key):
                if await self._append(key, record) == run.version:
                    await self._shared.lists.list_run(key, listing)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `RunLog.claim`."""
        key = self._key(run_id)
        record = LogRecord(kind="claim")
        with anyio.CancelScope(shield=True):
            async with self._shared.lock(key):
                state = self._shared.states.get(key)
                state = state or (await self._existing(run_id)).state
                pushed = await self._shared.push(key, state, record)
                if record.id in pushed.fences:
                    return pushed.fences[record.id]
        # Somebody has deleted the run meanwhile.
        raise ThoughtNotFound(run_id)

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return replay_run(run_id, (await self._existing(run_id)).payloads)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, found by looking again; see `RunLog.follow`."""
        key = self._key(run_id)
        state = LogState()

        async def read(known: int) -> Sequence[Entry]:
            nonlocal state
            folded = await self._shared.since(key, state)
            if not folded.state.version:
                raise ThoughtNotFound(run_id)
            state = folded.state
            return tuple(decode_entries(run_id, folded.payloads, after=known))

        async with aclosing(follow_by_polling(run_id, read, after=after)) as entries:
            async for step in entries:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        key = (await self._shared.lists.cursor_key()).encode()
        start = decode_cursor(key, self.tenant, cursor)
        found = await self._shared.lists.newest(self.tenant, start, limit + 1)
        page = found[:limit]
        lines = [_summary(run_id, line) for (_, run_id), line in page]
        return RunPage(
            runs=tuple(line for line in lines if line is not None),
            next_cursor=encode_cursor(key, self.tenant, page[-1][0])
            if page and len(found) > limit
            else None,
        )

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON, before they are compressed."""
        return sum(len(payload.encode()) for payload in (await self._existing(run_id)).payloads)

    async def delete(self, run_id: str) -> None:
        """Forget a run."""
        if not is_unicode(run_id):
            return  # no run has an id that cannot be sent
        key = self._key(run_id)
        with anyio.CancelScope(shield=True):
            async with self._shared.lock(key):
                self._shared.states.pop(key, None)
                await self._shared.lists.forget(key)

    async def catch_up(self) -> int:
        """Nothing is put off."""
        return 0

    async def health(self) -> tuple[Health, ...]:
        """Ask the server behind the tools what it is."""
        works, found = False, f"no answer within {_HEALTH_SECONDS} seconds"
        with anyio.move_on_after(_HEALTH_SECONDS):
            try:
                works, found = True, await self._shared.lists.look()
            except StorageError as error:
                works, found = False, str(error)
        return (Health(part=self._shared.name, works=works, found=found),)

    def scoped(self, tenant: str) -> "RedisToolLog":
        """The same runs as another tenant sees them, over the same session."""
        return RedisToolLog(self._caller, tenant=tenant, shared=self._shared)

    async def aclose(self) -> None:
        """End the session, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self._shared.caller.aclose()

    def _key(self, run_id: str) -> RunList:
        return RunList(self.tenant, run_id)

    async def _append(self, key: RunList, record: LogRecord) -> int:
        """Append and say how many entries the run has then."""
        state = self._shared.states.get(key)
        if state is None or not record.payloads or not state.admits(record):
            known = await self._shared.read(key)
            if record.payloads and known.holds(record):
                return known.state.version
            known.check(key.run_id, record)
            state = known.state
        if not record.payloads:
            return state.version
        pushed = await self._shared.push(key, state, record)
        if record.id not in pushed.fences:
            known = await self._shared.read(key)
            if not known.holds(record):
                known.check(key.run_id, record)
                raise VersionConflict(key.run_id, expected=record.after, found=pushed.state.version)
        return pushed.state.version

    async def _existing(self, run_id: str) -> Folded:
        if not is_unicode(run_id):
            raise ThoughtNotFound(run_id)
        known = await self._shared.read(self._key(run_id))
        if not known.state.version:
            raise ThoughtNotFound(run_id)
        return known


def _summary(run_id: str, line: str | None) -> RunSummary | None:
    if line is None:
        return None
    try:
        return RunSummary.model_validate_json(unpack(line))
    except (StorageError, ValueError) as error:
        logger.warning("run %r is left out of the list: %s", run_id, error)
        return None


class RedisToolStorage(LogStore[RedisToolLog]):
    """A `ThoughtStore` of a `RedisToolLog`, searched by reading its latest 200 runs.

    Args:
        caller: The session with that server; it is closed with the store.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of the keys.
        name: Its place, as `health` calls it.
    """

    def __init__(
        self,
        caller: ToolCaller,
        *,
        tenant: str = "default",
        prefix: str = "sifaka",
        name: str = "redis+mcp:",
    ) -> None:
        log = RedisToolLog(caller, tenant=tenant, prefix=prefix, name=name)
        super().__init__(log, latest=LATEST, tenant=tenant)
