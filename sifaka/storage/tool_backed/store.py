"""A store on top of logs of records: what Redis and Milvus have in common behind their tools."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import anyio
from anyio import to_thread

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import NEWEST, decode_cursor, encode_cursor
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.follow import follow_by_looking
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage
from sifaka.storage.scan import search_runs
from sifaka.storage.timestamps import to_microseconds
from sifaka.storage.tool_backed.envelope import pack, unpack
from sifaka.storage.tool_backed.log import Listing, RunKey
from sifaka.storage.tool_backed.records import Folded, LogState, Record
from sifaka.storage.tool_backed.shared import Shared
from sifaka.text.input import is_unicode

_SEARCHED = 200
"""How many runs a search reads through: each costs a call."""
_HEALTH_SECONDS = 5
logger = logging.getLogger(__name__)


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
            async with self._shared.lock(key):
                if await self._append(key, record, listing) == run.version:
                    await self._shared.log.list_run(key, listing)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        key = self._key(run_id)
        record = Record(kind="claim")
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
        """Every entry of a run, found by looking again; see `ThoughtStore.follow`."""
        key = self._key(run_id)
        state = LogState()

        async def read(known: int) -> Sequence[Entry]:
            nonlocal state
            folded = await self._shared.since(key, state)
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
        newest = await self._shared.log.newest(self.tenant, NEWEST, _SEARCHED + 1)
        runs: list[Run] = []
        for (_, run_id), _line in newest[:_SEARCHED]:
            try:
                runs.append(await self.load(run_id))
            except ThoughtNotFound:
                continue
            except StorageError as error:
                if error.retryable:
                    raise
                logger.warning("left out of a search: %s", error)
        hits = await to_thread.run_sync(lambda: search_runs(runs, query, limit=limit, only=only))
        if len(newest) <= _SEARCHED:
            return hits
        return hits.model_copy(update={"search": f"{hits.search} (the latest {_SEARCHED} runs)"})

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

    async def _append(self, key: RunKey, record: Record, listing: Listing) -> int:
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
        pushed = await self._shared.push(key, state, record, listing)
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
