"""One connection to a SQLite file: its tables, its transactions, and the thread it is used from.

No event loop ever waits for a disk. apsw is imported when a file is first opened.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sifaka.errors import ConfigurationError, SifakaError
from sifaka.storage.store import Worker, identity_of

UNREADABLE = (TypeError, ValueError, OverflowError)
"""The errors of a damaged row: a value of another type, text that is not UTF-8, no moment."""


SqlConnection: TypeAlias = Any
"""An `apsw.Connection`, whose types are not those of every Python that is supported."""


@contextmanager
def transaction(connection: SqlConnection, kind: str) -> Generator[None]:
    """Everything inside takes effect, or nothing does.

    Args:
        connection: The database.
        kind: `IMMEDIATE` waits for the right to write first, `DEFERRED` only reads one state.
    """
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk or an I/O error may have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def truncate_log(connection: SqlConnection) -> bool:
    """Empty the write-ahead log; False while another process reads from it."""
    waits = connection.pragma("busy_timeout")
    # It would keep other writers waiting for the readers.
    connection.set_busy_timeout(0)
    try:
        return connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get[0] == 0
    finally:
        connection.set_busy_timeout(waits)


_TABLES = """
CREATE TABLE store (traces INTEGER NOT NULL DEFAULT 0);
INSERT INTO store DEFAULT VALUES;
CREATE TABLE runs (
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    passed INTEGER NOT NULL,
    stop_reason TEXT,
    iterations INTEGER NOT NULL,
    excerpt TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0,
    tags TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant, run_id)
);
CREATE INDEX runs_by_recency ON runs (tenant, updated_at, run_id);
CREATE TABLE entries (
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (tenant, run_id, seq),
    FOREIGN KEY (tenant, run_id) REFERENCES runs ON DELETE CASCADE
);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (tenant, run_id, seq) REFERENCES entries ON DELETE CASCADE
);
CREATE INDEX versions_by_entry ON versions (tenant, run_id, seq);
CREATE VIEW version_texts AS
    SELECT versions.id AS id,
           CASE WHEN json_valid(drafted.payload)
                THEN json_extract(drafted.payload, '$.thought.text') END AS text,
           CASE WHEN json_valid(started.payload)
                THEN json_extract(started.payload, '$.prompt') END AS prompt
    FROM versions
    JOIN entries AS drafted USING (tenant, run_id, seq)
    JOIN entries AS started
      ON started.tenant = versions.tenant AND started.run_id = versions.run_id
     AND started.seq = 1;
CREATE VIRTUAL TABLE version_words USING fts5(
    text, prompt, content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE TABLE versions_without_words (
    id INTEGER PRIMARY KEY REFERENCES versions ON DELETE CASCADE
);
CREATE TABLE vector_models (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    model_id TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL,
    embedded_until INTEGER NOT NULL DEFAULT 0
);
"""
"""The tables of a store: `entries` is the record, `runs` is what lists need.

The index of words (`sifaka.storage.sqlite.search`) holds the terms of `sifaka.text.search_terms`,
one after the other. Vectors are in tables of their own, one for each model, which are made when
they are needed. A version's number is never given to another one, so what is kept under it
elsewhere, and is late to go, cannot be taken for the other's. A damaged entry has no text instead
of an error. `traces` is 1 while something is left of deleted runs (see `erase_traces`).
"""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one kind of file."""

    application_id: int
    """Marks a file as one of this kind."""
    number: int
    """The number of this form of the tables, which `PRAGMA user_version` has."""
    tables: str
    """The SQL that makes the tables."""

    def check(self, connection: SqlConnection, name: str) -> int:
        """Refuse a file that is not ours to write to, before anything in it is changed.

        Returns:
            The number of its form; 0 for an empty file.
        """
        # One transaction, because another process may be creating the tables right now.
        with transaction(connection, "DEFERRED"):
            application = connection.pragma("application_id")
            form = connection.pragma("user_version")
            tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
        if application != self.application_id and (application or form or tables):
            raise ConfigurationError(
                f"{name} is the database of another program", "name another file in the store's URL"
            )
        if form > self.number:
            raise ConfigurationError(
                f"{name} has schema {form}, this release knows {self.number}",
                "upgrade Sifaka, or name another file in the store's URL",
            )
        return form

    def prepare(self, connection: SqlConnection) -> None:
        """Give an empty file the tables, in one step."""
        with transaction(connection, "IMMEDIATE"):
            # Asked again under the write lock: another process may have been faster.
            if connection.pragma("user_version") != self.number:
                connection.execute(self.tables)
                connection.execute(f"PRAGMA application_id = {self.application_id}")
                connection.execute(f"PRAGMA user_version = {self.number}")


RUNS = Schema(0x5346_4B41, 5, _TABLES)
"""A store, marked `SFKA`."""


class SQLiteWorker(Worker[SqlConnection]):
    """Runs functions on the connection, one at a time.

    Args:
        path: The file.
        schema: What is in it.
    """

    def __init__(self, path: Path, schema: Schema = RUNS) -> None:
        super().__init__(f"the store {str(path)!r}", 1)
        self._path = path
        self._schema = schema
        self._identity = ""

    def _open(self, current: SqlConnection | None) -> SqlConnection:
        # Otherwise it was deleted or replaced, and what is written is lost; or a newer release has
        # upgraded it, and what is written would not be as that one needs it.
        if (
            current is not None
            and identity_of(self._path) == self._identity
            and current.pragma("user_version") == self._schema.number
        ):
            return current
        from sifaka.storage.sqlite.file import open_file

        self._opened = None  # what replaces it may be one that cannot be opened
        if current is not None:
            current.close()
        connection, self._identity = open_file(self._path, self._schema)
        return connection

    def _close(self, opened: SqlConnection) -> None:
        opened.close()

    def _translate(self, error: Exception) -> SifakaError | None:
        from sifaka.storage.sqlite.file import translate

        return translate(self._path, error)
