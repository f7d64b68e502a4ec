"""A store in one SQLite file, the embedded default: the SQL that appends, reads, lists and deletes.

Every connection overwrites what it deletes (`PRAGMA secure_delete`). The words of a deleted version
leave FTS5 when its segments are merged, and old pages stay in the write-ahead log until it is
truncated.
"""

import json
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sifaka.embeddings.protocol import Embedder
from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Drafted, Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import cut_page, decode_cursor, from_microseconds, to_microseconds
from sifaka.storage.embedding import embed_words
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.log import check_append, look_at
from sifaka.storage.protocol import ANY, Filters, Health, Hits, RunPage
from sifaka.storage.sqlite.connection import (
    UNREADABLE,
    SqlConnection,
    SQLiteWorker,
    transaction,
    truncate_log,
)
from sifaka.storage.sqlite.search import (
    SLICE,
    catch_up_words,
    check_package,
    embed_batch,
    remove_vectors,
    search_versions,
)
from sifaka.storage.store import ErasingStore, PolledStore, identity_of
from sifaka.text.input import is_unicode

T = TypeVar("T")
logger = logging.getLogger(__name__)


class SQLiteStorage(ErasingStore, PolledStore):
    """A `ThoughtStore` in a file that several processes may have open at the same time.

    An append that has returned survives the end of the process and of the power supply. The words
    of its versions are indexed by `catch_up` or the next search, their vectors made by `catch_up`.
    The file and its folder are created on first use, readable by their owner only.

    Args:
        path: The file; a relative path is resolved now.
        tenant: The tenant whose runs are seen.
        embedder: Makes the vectors for semantic search; without one, words alone are searched for.

    Raises:
        ConfigurationError: An embedder needs `sifaka-mcp[embeddings]`, which is not installed.
    """

    def __init__(
        self, path: str | Path, *, tenant: str = "default", embedder: Embedder | None = None
    ) -> None:
        if embedder is not None:
            check_package()
        self.path = Path(path).absolute()
        self.worker = SQLiteWorker(self.path)
        super().__init__(f"sqlite:///{self.path}", tenant, self.worker.aclose)
        self._embedder = embedder

    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        await self.worker.run(
            partial(
                append_entries,
                tenant=self.tenant,
                run=run,
                entries=entries,
                expected_version=expected_version,
                fence=fence,
            )
        )

    async def _read_identity(self) -> str:
        return identity_of(self.path)

    async def claim(self, run_id: str) -> int:
        """Take a run over, in one statement; see `ThoughtStore.claim`."""
        return await self._query_run(run_id, claim_run)

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return await self._query_run(run_id, load_run)

    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version."""
        return await self._query_run(run_id, partial(read_entries, after=version))

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        return await self.worker.run(lambda c: list_recent(c, self.tenant, limit, cursor))

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Versions that share words with the query, or its meaning with an embedder, best first.

        Raises:
            ConfigurationError: The embedder makes vectors of another dimension than it used to, or
                `sifaka-mcp[embeddings]` is not installed.
            StorageError: SQLite failed.
        """
        vector, failed = await embed_words(self._embedder, query)
        model_id = self._embedder.model_id if self._embedder else ""
        search = partial(search_versions, model_id=model_id, vector=vector)
        hits = await self.worker.run(lambda c: search(c, self.tenant, query, limit, only))
        return hits.model_copy(update={"search": hits.search + failed})

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete runs in one transaction; without any, clean and shrink the file. See `Eraser`."""
        if not lines:
            await self.worker.run(partial(erase_traces, seconds=math.inf, whole=True))
        return await super().erase(lines)

    async def _remove(self, moments: Mapping[str, datetime | None]) -> frozenset[str]:
        """Forget runs with their words and vectors."""
        # No run has an id that is no text, and SQLite cannot be asked for it.
        valid = {run_id: moments[run_id] for run_id in moments if is_unicode(run_id)}
        if not valid:
            return frozenset()
        stayed = await self.worker.run(lambda c: delete_runs(c, self.tenant, valid))
        await self.worker.run(truncate_log)
        return stayed

    async def catch_up(self) -> int:
        """Index some versions that have no words, and embed some that have no vector of the model.

        It is for all tenants. Without an embedder, a file that is not open stays closed.
        """
        if self._embedder is None and not self.worker.used:
            return 0
        await super().catch_up()
        left = await self.worker.run(partial(catch_up_words, seconds=SLICE))
        left += await self.worker.run(partial(erase_traces, seconds=2.0))
        if self._embedder is not None:
            left += await embed_batch(self.worker, self._embedder)
        return left

    async def health(self) -> tuple[Health, ...]:
        """The file, by a trial of reading and writing it."""
        return (await look_at(self.place, lambda: self.worker.run(describe_file)),)

    async def _query_run(self, run_id: str, work: Callable[[SqlConnection, str, str], T]) -> T:
        """The answer of a function about a run of the tenant."""
        if not is_unicode(run_id):
            raise ThoughtNotFound(run_id)
        return await self.worker.run(lambda c: work(c, self.tenant, run_id))


def append_entries(
    connection: SqlConnection,
    tenant: str,
    run: Run,
    entries: Sequence[Entry],
    expected_version: int,
    fence: int | None,
) -> None:
    """Append in one transaction, or find that it was done before."""
    payloads = encode_entries(run, entries, expected_version)
    with transaction(connection, "IMMEDIATE"):
        row = connection.execute(_VERSION_AND_FENCE, (tenant, run.run_id)).fetchone()
        version, current = row or (0, 0)
        if payloads and version > expected_version:
            held = connection.execute(
                """
                SELECT payload FROM entries
                WHERE tenant = ? AND run_id = ? AND seq > ? AND seq <= ? ORDER BY seq
                """,
                (tenant, run.run_id, expected_version, run.version),
            )
            if [payload for (payload,) in held] == [*payloads]:
                return
        check_append(
            run.run_id, fence=fence, current=current, expected=expected_version, found=version
        )
        line = run.summary()
        connection.execute(
            """
            INSERT INTO runs (tenant, run_id, version, status, passed, stop_reason, iterations,
                              excerpt, created_at, updated_at, tags)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (tenant, run_id) DO UPDATE SET
                version = excluded.version, status = excluded.status, passed = excluded.passed,
                stop_reason = excluded.stop_reason, iterations = excluded.iterations,
                excerpt = excluded.excerpt, updated_at = excluded.updated_at
            """,
            (
                tenant,
                run.run_id,
                run.version,
                line.status,
                line.passed,
                line.stop_reason,
                line.iterations,
                line.excerpt,
                to_microseconds(line.created_at),
                to_microseconds(line.updated_at),
                json.dumps(run.tags),
            ),
        )
        numbered = enumerate(zip(entries, payloads, strict=True), expected_version + 1)
        for seq, (entry, payload) in numbered:
            connection.execute(
                "INSERT INTO entries (tenant, run_id, seq, payload) VALUES (?, ?, ?, ?)",
                (tenant, run.run_id, seq, payload),
            )
            if isinstance(entry, Drafted):
                connection.execute(
                    "INSERT INTO versions (tenant, run_id, seq, created_at) VALUES (?, ?, ?, ?)",
                    (tenant, run.run_id, seq, to_microseconds(entry.thought.created_at)),
                )
                # A run waits for its appends, and nobody for the words of a version but a search.
                connection.execute(
                    "INSERT INTO versions_without_words (id) VALUES (last_insert_rowid())"
                )


def claim_run(connection: SqlConnection, tenant: str, run_id: str) -> int:
    """One more than the highest number given before, committed."""
    rows = connection.execute(
        "UPDATE runs SET fence = fence + 1 WHERE tenant = ? AND run_id = ? RETURNING fence",
        (tenant, run_id),
    ).fetchall()
    if not rows:
        raise ThoughtNotFound(run_id)
    return rows[0][0]


def delete_runs(
    connection: SqlConnection, tenant: str, moments: Mapping[str, datetime | None]
) -> frozenset[str]:
    """Forget runs, all or none; where a moment is given only if the last entry is of it.

    Returns:
        The ids of those that stay.
    """
    stayed: set[str] = set()
    with transaction(connection, "IMMEDIATE"):
        for run_id, moment in moments.items():
            row = connection.execute(
                "SELECT updated_at FROM runs WHERE tenant = ? AND run_id = ?", (tenant, run_id)
            ).fetchone()
            if moment is None or row == (to_microseconds(moment),):
                _delete_run(connection, tenant, run_id)
            elif row is not None:
                stayed.add(run_id)
    return frozenset(stayed)


def _delete_run(connection: SqlConnection, tenant: str, run_id: str) -> None:
    versions = connection.execute(
        "SELECT id FROM versions WHERE tenant = ? AND run_id = ?", (tenant, run_id)
    ).fetchall()
    if versions:
        remove_vectors(connection, [version for (version,) in versions])
        connection.execute(
            """
            DELETE FROM version_words
            WHERE rowid IN (SELECT id FROM versions WHERE tenant = ? AND run_id = ?)
            """,
            (tenant, run_id),
        )
        connection.execute("UPDATE store SET traces = 1")
    # Its entries and versions go with it.
    connection.execute("DELETE FROM runs WHERE tenant = ? AND run_id = ?", (tenant, run_id))


def load_run(connection: SqlConnection, tenant: str, run_id: str) -> Run:
    """The run, folded from its entries while they are read."""
    with transaction(connection, "DEFERRED"):
        version = _read_version(connection, tenant, run_id)
        return replay_run(run_id, _read_payloads(connection, tenant, run_id, 0, version))


def read_entries(
    connection: SqlConnection, tenant: str, run_id: str, after: int
) -> Sequence[Entry]:
    """The entries of the run beyond the first so many; one look-up where there are none."""
    with transaction(connection, "DEFERRED"):
        version = _read_version(connection, tenant, run_id)
        if version < after:  # it was deleted, and another one has taken its id
            raise ThoughtNotFound(run_id)
        if 0 < version == after:
            return ()
        payloads = _read_payloads(connection, tenant, run_id, after, version)
        return tuple(decode_entries(run_id, payloads, after=after))


def describe_file(connection: SqlConnection) -> str:
    """The contents of the file in one line, after a trial of writing it."""
    with transaction(connection, "IMMEDIATE"):
        count, schema, pages, page_size = connection.execute(
            """
            SELECT (SELECT count(*) FROM runs), user_version, page_count, page_size
            FROM pragma_user_version, pragma_page_count, pragma_page_size
            """
        ).fetchone()
    return f"schema {schema}, runs: {count}, {pages * page_size / 1e6:.1f} MB"


_VERSION_AND_FENCE = """
SELECT CAST(version AS INTEGER), CAST(fence AS INTEGER) FROM runs WHERE tenant = ? AND run_id = ?
"""
"""As numbers whatever is there: a damaged one is then another number than that of the entries."""


def _read_version(connection: SqlConnection, tenant: str, run_id: str) -> int:
    row = connection.execute(_VERSION_AND_FENCE, (tenant, run_id)).fetchone()
    if row is None:
        raise ThoughtNotFound(run_id)
    return row[0]


def _read_payloads(
    connection: SqlConnection, tenant: str, run_id: str, after: int, version: int
) -> Iterator[bytes]:
    # As bytes: damaged text is then reported with the entry it is in. At once: a statement that is
    # left in the middle, in the traceback of who cannot read an entry, would hold its snapshot.
    rows = connection.execute(
        """
        SELECT seq, CAST(payload AS BLOB) FROM entries
        WHERE tenant = ? AND run_id = ? AND seq > ? ORDER BY seq
        """,
        (tenant, run_id, after),
    ).fetchall()
    for number, (seq, payload) in enumerate(rows, after + 1):
        if seq != number:
            raise _damage_error(f"entry {number} of run {run_id!r} is missing")
        yield payload
    count = after + len(rows)
    if count < max(version, 1):
        raise _damage_error(f"entry {count + 1} of run {run_id!r} is missing")
    if count > version:
        raise _damage_error(f"run {run_id!r} has {count} entries, and a note of {version}")


def _damage_error(what: str) -> StorageError:
    return StorageError(what, "restore the file from a backup; other runs are not affected")


def list_recent(connection: SqlConnection, tenant: str, limit: int, cursor: str | None) -> RunPage:
    """One page of runs, found by their place in the order and not by counting."""
    updated_at, run_id = decode_cursor(cursor)
    # As bytes, because text may be damaged; without a limit, because some may be left out.
    rows = connection.execute(
        """
        SELECT CAST(run_id AS BLOB), CAST(status AS BLOB), CAST(passed AS BLOB),
               CAST(stop_reason AS BLOB), CAST(iterations AS BLOB), CAST(excerpt AS BLOB),
               CAST(created_at AS BLOB), CAST(updated_at AS BLOB)
        FROM runs WHERE tenant = ? AND (updated_at, run_id) < (?, ?)
        ORDER BY updated_at DESC, run_id DESC
        """,
        (tenant, updated_at, run_id),
    )
    return cut_page(tuple(islice(_parse_rows(rows), limit + 1)), limit=limit)


def _parse_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[RunSummary]:
    for run_id, status, passed, stop_reason, iterations, excerpt, created_at, updated_at in rows:
        try:
            yield RunSummary(
                run_id=run_id.decode(),
                status=status.decode(),
                passed=bool(int(passed)),
                stop_reason=None if stop_reason is None else stop_reason.decode(),
                iterations=int(iterations),
                excerpt=excerpt.decode(),
                created_at=from_microseconds(int(created_at)),
                updated_at=from_microseconds(int(updated_at)),
            )
        except UNREADABLE:
            logger.warning("run %r cannot be read and was left out of a list", run_id)


_MERGED_PAGES = 500


def erase_traces(connection: SqlConnection, *, seconds: float, whole: bool = False) -> int:
    """Erase what deleted runs have left, for about so long.

    Args:
        connection: The file.
        seconds: The time for merging the index of words.
        whole: Also rewrites the file where a quarter of it is free. That takes some seconds a GB
            and as much of the disk.

    Returns:
        1 when something is left that could be done now, otherwise 0.
    """
    deadline = time.monotonic() + seconds
    traces = connection.execute("SELECT traces FROM store").get
    if not (whole or traces):
        return 0
    # A negative number begins a merge of all segments, as `optimize` does; others go on with it.
    pages = -_MERGED_PAGES
    while traces:
        with transaction(connection, "IMMEDIATE"):
            before = connection.total_changes()
            connection.execute(
                "INSERT INTO version_words (version_words, rank) VALUES ('merge', ?)", (pages,)
            )
            if connection.total_changes() - before < 2:  # there is no more
                traces = 0
                connection.execute("UPDATE store SET traces = 0")
        pages = _MERGED_PAGES
        if traces and time.monotonic() >= deadline:
            return 1
    if whole and connection.pragma("freelist_count") * 4 > connection.pragma("page_count"):
        connection.execute("VACUUM")
    truncate_log(connection)
    return 0
