"""The session with one database, shared by all tenants' views, and the known states of its runs."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio
from anyio.lowlevel import EventLoopToken, current_token

from sifaka.storage.tool_backed.caller import ToolCaller
from sifaka.storage.tool_backed.records import (
    Folded,
    LogRecord,
    LogState,
    Placed,
    decode_record,
    encode_record,
    fold,
)
from sifaka.storage.tool_backed.redis_lists import RedisLists, RunList

_REMEMBERED = 1_000
"""How many runs' states are kept, to append without reading a whole log again."""


@dataclass(frozen=True, slots=True, eq=False)
class SharedLists:
    """The state that the views of all tenants share."""

    caller: ToolCaller
    lists: RedisLists
    name: str
    states: dict[RunList, LogState] = field(default_factory=dict[RunList, LogState])
    """What each log amounted to when it was last read; an old one only costs another reading."""
    locks: weakref.WeakValueDictionary[tuple[EventLoopToken, RunList], anyio.Lock] = field(
        default_factory=weakref.WeakValueDictionary[tuple[EventLoopToken, RunList], anyio.Lock]
    )

    def lock(self, key: RunList) -> anyio.Lock:
        """Held by the writer of a run, within an event loop."""
        return self.locks.setdefault((current_token(), key), anyio.Lock())

    async def push(self, key: RunList, state: LogState, record: LogRecord) -> Folded:
        """Add a record, and read the records since the state."""
        await self.lists.push(key, encode_record(record))
        return await self.since(key, state)

    async def read(self, key: RunList) -> Folded:
        """What a log amounts to, from its beginning."""
        return self._remember(key, fold(await self._records(key, 0)))

    async def since(self, key: RunList, state: LogState) -> Folded:
        """What was added to a log; its last record that was known is read again.

        Where that one is another now, the run was deleted, and perhaps begun anew.
        """
        if state.position < 0:
            return await self.read(key)
        records = await self._records(key, state.position)
        begun_anew = any(record.kind == "forget" for _, record in records[1:])
        if records and records[0][1].id == state.last and not begun_anew:
            return self._remember(key, fold(records[1:], state))
        again = await self.read(key)
        return replace(again, payloads=again.payloads[state.version :])

    async def _records(self, key: RunList, start: int) -> Sequence[Placed]:
        values = await self.lists.read(key, start)
        return [(position, decode_record(value)) for position, value in values]

    def _remember(self, key: RunList, folded: Folded) -> Folded:
        states = self.states
        states.pop(key, None)
        if folded.state.version:
            states[key] = folded.state
        while len(states) > _REMEMBERED:
            states.pop(next(iter(states)))
        return folded
