"""A store on top of logs of records: what Redis and Milvus have in common behind their tools."""

import logging
import weakref
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import anyio
from anyio import to_thread
from anyio.lowlevel import EventLoopToken, current_token

from sifaka.entries import Entry
from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.run import Run, RunSummary
from sifaka.storage.cursor import decode_cursor, encode_cursor
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.following import follow_by_looking
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage
from sifaka.storage.scanning import search_runs
from sifaka.storage.timestamps import to_microseconds
from sifaka.storage.tool_backed.caller import ToolCaller
from sifaka.storage.tool_backed.envelope import pack, unpack
from sifaka.storage.tool_backed.log import Listing, RunKey, RunLog
from sifaka.storage.tool_backed.records import (
    Folded,
    LogState,
    Placed,
    Record,
    decode_record,
    encode_record,
    fold,
)

_SEARCHED = 200
"""How many runs a search reads through: each costs a call."""
_REMEMBERED = 1_000
"""How many runs' states are kept, to append without reading a whole log again."""
_HEALTH_SECONDS = 5
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What all tenants' views have in common."""

    caller: ToolCaller
    log: RunLog
    name: str
    states: dict[RunKey, LogState] = field(default_factory=dict[RunKey, LogState])
    """What each log amounted to when it was last read; an old one only costs another reading."""
    locks: weakref.WeakValueDictionary[tuple[EventLoopToken, RunKey], anyio.Lock] = field(
        default_factory=weakref.WeakValueDictionary[tuple[EventLoopToken, RunKey], anyio.Lock]
    )


class LogStorage:
    """A `ThoughtStore` over the logs that a `RunLog` offers.

    A record counts or not by its place in its log, which every reader sees alike. Within an event
    loop a lock for each run keeps those who come too late from writing at all.

    Args:
        shared: The session and the log.
        tenant: Whose runs are seen.
        owned: Whether closing it closes the session; not so for what `scoped` makes.
    """

    def __init__(self, shared: Shared, *, tenant: str = "default", owned: bool = True) -> None:
        self.tenant = tenant
        self._shared = shared
        self._owned = owned

    @property
    def place(self) -> str:
        """The command of the server, without secrets."""
        return self._shared.name

    @property
    def degraded(self) -> tuple[str, ...]:
        """What a tool was found not to do."""
        return self._shared.log.trouble

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Add entries, all or none; see `ThoughtStore.append`."""
        payloads = encode_entries(run, entries, expected_version)
        record = Record(kind="append", after=expected_version, payloads=payloads, fence=fence)
        line = pack(run.summary().model_dump_json())
        listing = Listing(to_microseconds(run.updated_at), line)
        key = self._key(run.run_id)
        with anyio.CancelScope(shield=True):
            async with self._lock(key):
                if await self._append(key, record, listing) == run.version:
                    await self._shared.log.list_run(key, listing)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        key = self._key(run_id)
        record = Record(kind="claim")
        with anyio.CancelScope(shield=True):
            async with self._lock(key):
                state = self._shared.states.get(key)
                state = state or (await self._existing(run_id)).state
                pushed = await self._push(key, state, record)
                if record.id in pushed.fences:
                    return pushed.fences[record.id]
        # Somebody has deleted the run meanwhile.
        raise ThoughtNotFound(run_id)

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return replay_run(run_id, (await self._existing(run_id)).payloads)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, found by looking again; see `ThoughtStore.follow`."""
        key = self._key(run_id)
        state = LogState()

        async def read(known: int) -> Sequence[Entry]:
            nonlocal state
            folded = await self._since(key, state)
            if not folded.state.version:
                raise ThoughtNotFound(run_id)
            state = folded.state
            return tuple(decode_entries(run_id, folded.payloads, after=known))

        async with aclosing(follow_by_looking(run_id, read, after=after)) as entries:
            async for step in entries:
                yield step

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        key = (await self._shared.log.cursor_key()).encode()
        start = decode_cursor(key, self.tenant, cursor)
        found = await self._shared.log.newest(self.tenant, start, limit + 1)
        page = found[:limit]
        lines = [_summary(run_id, line) for (_, run_id), line in page]
        return RunPage(
            runs=tuple(line for line in lines if line is not None),
            next_cursor=encode_cursor(key, self.tenant, page[-1][0])
            if page and len(found) > limit
            else None,
        )

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions of the latest 200 runs that share words with the query; not stemmed."""
        start = decode_cursor(b"", self.tenant, None)
        newest = await self._shared.log.newest(self.tenant, start, _SEARCHED + 1)
        runs: list[Run] = []
        for (_, run_id), _line in newest[:_SEARCHED]:
            try:
                runs.append(await self.load(run_id))
            except ThoughtNotFound:
                continue
            except StorageError as error:
                if error.retryable:
                    raise
                _logger.warning("left out of a search: %s", error)
        hits = await to_thread.run_sync(lambda: search_runs(runs, query, limit=limit, only=only))
        if len(newest) <= _SEARCHED:
            return hits
        return hits.model_copy(update={"search": f"{hits.search} (the latest {_SEARCHED} runs)"})

    async def size(self, run_id: str) -> int:
        """The bytes of a run's entries as JSON, before they are compressed."""
        return sum(len(payload.encode()) for payload in (await self._existing(run_id)).payloads)

    async def delete(self, run_id: str) -> None:
        """Forget a run."""
        if not _is_text(run_id):
            return
        key = self._key(run_id)
        with anyio.CancelScope(shield=True):
            async with self._lock(key):
                self._shared.states.pop(key, None)
                await self._shared.log.forget(key)

    async def catch_up(self) -> int:
        """Nothing is put off."""
        return 0

    async def health(self) -> tuple[Health, ...]:
        """Ask the server behind the tools what it is."""
        works, found = False, f"no answer within {_HEALTH_SECONDS} seconds"
        with anyio.move_on_after(_HEALTH_SECONDS):
            try:
                works, found = True, await self._shared.log.look()
            except StorageError as error:
                works, found = False, str(error)
        return (Health(part=self._shared.name, works=works, found=found),)

    def scoped(self, tenant: str) -> "LogStorage":
        """The same runs as another tenant sees them, over the same session."""
        return LogStorage(self._shared, tenant=tenant, owned=False)

    async def aclose(self) -> None:
        """End the session, for all views; on a view that `scoped` made this does nothing."""
        if self._owned:
            await self._shared.caller.aclose()

    def _key(self, run_id: str) -> RunKey:
        return RunKey(self.tenant, run_id)

    def _lock(self, key: RunKey) -> anyio.Lock:
        return self._shared.locks.setdefault((current_token(), key), anyio.Lock())

    async def _append(self, key: RunKey, record: Record, listing: Listing) -> int:
        """Append and say how many entries the run has then."""
        state = self._shared.states.get(key)
        if state is None or not record.payloads or not state.admits(record):
            known = await self._read(key)
            if record.payloads and known.holds(record):
                return known.state.version
            known.check(key.run_id, record)
            state = known.state
        if not record.payloads:
            return state.version
        pushed = await self._push(key, state, record, listing)
        if record.id not in pushed.fences:
            known = await self._read(key)
            if not known.holds(record):
                known.check(key.run_id, record)
                raise VersionConflict(key.run_id, expected=record.after, found=pushed.state.version)
        return pushed.state.version

    async def _push(
        self, key: RunKey, state: LogState, record: Record, listing: Listing | None = None
    ) -> Folded:
        """Add a record and read what was added since the state was."""
        value = encode_record(record)
        await self._shared.log.push(key, state.position + 1, record.id, value, listing)
        return await self._since(key, state)

    async def _existing(self, run_id: str) -> Folded:
        if not _is_text(run_id):
            raise ThoughtNotFound(run_id)
        known = await self._read(self._key(run_id))
        if not known.state.version:
            raise ThoughtNotFound(run_id)
        return known

    async def _read(self, key: RunKey) -> Folded:
        return self._remember(key, fold(await self._records(key, 0)))

    async def _since(self, key: RunKey, state: LogState) -> Folded:
        """What was added to a log; its last record that was known is read again.

        Where that one is another now, the run was deleted, and perhaps begun anew.
        """
        if state.position < 0:
            return await self._read(key)
        records = await self._records(key, state.position)
        begun_anew = any(record.kind == "forget" for _, record in records[1:])
        if records and records[0][1].id == state.last and not begun_anew:
            return self._remember(key, fold(records[1:], state))
        again = await self._read(key)
        return replace(again, payloads=again.payloads[state.version :])

    async def _records(self, key: RunKey, start: int) -> Sequence[Placed]:
        values = await self._shared.log.read(key, start)
        return [(position, decode_record(value)) for position, value in values]

    def _remember(self, key: RunKey, folded: Folded) -> Folded:
        states = self._shared.states
        states.pop(key, None)
        if folded.state.version:
            states[key] = folded.state
        while len(states) > _REMEMBERED:
            states.pop(next(iter(states)))
        return folded


def _summary(run_id: str, line: str | None) -> RunSummary | None:
    if line is None:
        return None
    try:
        return RunSummary.model_validate_json(unpack(line))
    except (StorageError, ValueError) as error:
        _logger.warning("run %r is left out of the list: %s", run_id, error)
        return None


def _is_text(run_id: str) -> bool:
    """Whether an id can be sent at all; no run has one that cannot."""
    try:
        run_id.encode()
    except UnicodeEncodeError:
        return False
    return True
