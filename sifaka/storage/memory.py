"""Runs in this process's memory: for tests, and for those who want nothing on disk."""

import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from anyio import to_thread

from sifaka.entries import Entry
from sifaka.errors import ThoughtNotFound, VersionConflict
from sifaka.run import Run
from sifaka.storage.bm25 import query_words, rank, snippet
from sifaka.storage.cursor import Position, decode_cursor, encode_cursor
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.protocol import Hit, Hits, RunPage
from sifaka.storage.timestamps import to_microseconds

_TEXT_WEIGHT = 1.0
_PROMPT_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class _Record:
    payloads: tuple[str, ...]
    """What a repeated append is recognised by: the same JSON as in the stores on disk."""
    run: Run


@dataclass(frozen=True, slots=True, eq=False)
class _Shelf:
    """The one mutable place, shared by all tenants' views."""

    records: dict[tuple[str, str], _Record] = field(default_factory=dict[tuple[str, str], _Record])
    lock: threading.Lock = field(default_factory=threading.Lock)
    cursor_key: bytes = field(default_factory=lambda: secrets.token_bytes(16))


@dataclass(frozen=True, slots=True, eq=False)
class MemoryStorage:
    """A `ThoughtStore` that ends with the process."""

    tenant: str = "default"
    _shelf: _Shelf = field(default_factory=_Shelf, repr=False)

    async def append(self, run: Run, entries: Sequence[Entry], *, expected_version: int) -> None:
        """Add entries, all or none; see `ThoughtStore.append`."""
        payloads = encode_entries(run, entries, expected_version)
        key = (self.tenant, run.run_id)
        with self._shelf.lock:
            record = self._shelf.records.get(key)
            held = record.payloads if record else ()
            if len(held) != expected_version:
                end = expected_version + len(payloads)
                if len(held) >= end and held[expected_version:end] == payloads:
                    return
                raise VersionConflict(run.run_id, expected=expected_version, found=len(held))
            after = _fold(record.run if record else None, entries)
            self._shelf.records[key] = _Record((*held, *payloads), after)

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        record = self._shelf.records.get((self.tenant, run_id))
        if record is None:
            raise ThoughtNotFound(run_id)
        return record.run

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        start = decode_cursor(self._shelf.cursor_key, self.tenant, cursor)
        runs = sorted(
            (run for run in self._runs() if _position(run) < start), key=_position, reverse=True
        )
        page = runs[:limit]
        return RunPage(
            runs=tuple(run.summary() for run in page),
            next_cursor=encode_cursor(self._shelf.cursor_key, self.tenant, _position(page[-1]))
            if page and len(runs) > limit
            else None,
        )

    async def search(self, query: str, *, limit: int) -> Hits:
        """Versions that share words with the query; words are not stemmed."""
        # In a thread: reading through many long texts takes a while.
        return await to_thread.run_sync(_search, self._runs(), query, limit)

    def scoped(self, tenant: str) -> "MemoryStorage":
        """The same runs as another tenant sees them."""
        return replace(self, tenant=tenant)

    async def aclose(self) -> None:
        """Nothing to release; the runs are gone when the last view is."""

    def _runs(self) -> list[Run]:
        with self._shelf.lock:
            return [
                record.run
                for (tenant, _), record in self._shelf.records.items()
                if tenant == self.tenant
            ]


def _fold(run: Run | None, entries: Sequence[Entry]) -> Run:
    if run is None:
        return Run.replay(entries)
    for entry in entries:
        run = run.apply(entry)
    return run


def _position(run: Run) -> Position:
    return to_microseconds(run.updated_at), run.run_id


def _search(runs: list[Run], query: str, limit: int) -> Hits:
    words = query_words(query)
    versions = [(run, thought) for run in runs for thought in run.thoughts] if words else []
    scores = rank(
        words,
        [((t.text, _TEXT_WEIGHT), (run.prompt, _PROMPT_WEIGHT)) for run, t in versions],
    )
    best = sorted(
        (i for i, score in enumerate(scores) if score > 0), key=lambda i: scores[i], reverse=True
    )
    return Hits(
        hits=tuple(
            Hit(
                run_id=run.run_id,
                thought_id=thought.id,
                score=scores[i],
                snippet=snippet(words, (thought.text, run.prompt)),
                created_at=thought.created_at,
            )
            for i, (run, thought) in ((i, versions[i]) for i in best[:limit])
        ),
        search="bm25",
    )
