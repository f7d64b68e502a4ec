"""The tables of a SQLite store, and how an older file gets them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sifaka.errors import ConfigurationError
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.sqlite.connection import SqlConnection, transaction

APPLICATION_ID = 0x53464B41
"""Marks a file as ours: `SFKA`."""


def create_runs_and_entries(connection: SqlConnection) -> None:
    """Version 1: the record itself. `runs` is what lists need, `entries` is the truth."""
    connection.execute("""
        CREATE TABLE store (cursor_key BLOB NOT NULL);
        INSERT INTO store VALUES (randomblob(16));
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
    """)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def add_search(connection: SqlConnection) -> None:
    """Version 2: full-text search over the text and the task of every version.

    The index keeps no text of its own: it reads `version_texts`, a view into the entries.
    """
    connection.execute("""
        CREATE TABLE versions (
            id INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL,
            run_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            FOREIGN KEY (tenant, run_id, seq) REFERENCES entries ON DELETE CASCADE
        );
        CREATE INDEX versions_by_entry ON versions (tenant, run_id, seq);
        CREATE VIEW version_texts AS
            SELECT versions.id AS id,
                   json_extract(drafted.payload, '$.thought.text') AS text,
                   json_extract(started.payload, '$.prompt') AS prompt
            FROM versions
            JOIN entries AS drafted USING (tenant, run_id, seq)
            JOIN entries AS started
              ON started.tenant = versions.tenant AND started.run_id = versions.run_id
             AND started.seq = 1;
        CREATE VIRTUAL TABLE version_search USING fts5 (
            text, prompt, content = 'version_texts', content_rowid = 'id',
            tokenize = "porter unicode61 remove_diacritics 2"
        );
        INSERT INTO versions (tenant, run_id, seq)
            SELECT tenant, run_id, seq FROM entries
            WHERE json_extract(payload, '$.kind') = 'drafted' ORDER BY rowid;
        INSERT INTO version_search (version_search) VALUES ('rebuild');
    """)


def add_claims_filters_and_vectors(connection: SqlConnection) -> None:
    """Version 3: who works on a run, what a search can be narrowed by, and models of vectors.

    Vectors are in tables of their own, one for each model, which are made when they are needed.
    A version's number is never given to another one, so what is kept under it elsewhere, and is
    late to go, cannot be taken for the other's. A damaged entry has no text instead of an error.
    """
    connection.execute("""
        ALTER TABLE runs ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE runs ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
        DROP VIEW version_texts;
        ALTER TABLE versions RENAME TO versions_of_schema_2;
        CREATE TABLE versions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            tenant TEXT NOT NULL,
            run_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            FOREIGN KEY (tenant, run_id, seq) REFERENCES entries ON DELETE CASCADE
        );
    """)
    for *version, created_at in connection.execute("""
        SELECT id, tenant, run_id, seq,
               CASE WHEN json_valid(payload)
                    THEN CAST(json_extract(payload, '$.thought.created_at') AS BLOB) END
        FROM versions_of_schema_2 JOIN entries USING (tenant, run_id, seq) ORDER BY id
    """).fetchall():
        connection.execute(
            "INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (*version, _microseconds(created_at))
        )
    connection.execute("""
        DROP TABLE versions_of_schema_2;
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
        CREATE TABLE vector_models (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            model_id TEXT NOT NULL UNIQUE,
            dimension INTEGER NOT NULL,
            embedded_until INTEGER NOT NULL DEFAULT 0
        );
    """)


def add_words_of_every_language(connection: SqlConnection) -> None:
    """Version 4: the index holds the terms of `sifaka.text.terms`, one after the other.

    Versions that were there get theirs later (`sifaka.storage.sqlite.words`), so that a large file
    opens at once.
    """
    connection.execute("""
        DROP TABLE version_search;
        CREATE VIRTUAL TABLE version_words USING fts5(
            text, prompt, content = '', contentless_delete = 1, tokenize = 'ascii'
        );
        CREATE TABLE versions_without_words (
            id INTEGER PRIMARY KEY REFERENCES versions ON DELETE CASCADE
        );
        INSERT INTO versions_without_words SELECT id FROM versions;
    """)


def add_traces(connection: SqlConnection) -> None:
    """Version 5: notes that something is left of deleted runs (`sifaka.storage.sqlite.erasure`).

    Earlier releases did not overwrite what they deleted.
    """
    connection.execute("""
        ALTER TABLE store ADD COLUMN traces INTEGER NOT NULL DEFAULT 0;
        UPDATE store SET traces = 3
        WHERE EXISTS (SELECT 1 FROM runs) OR (SELECT freelist_count FROM pragma_freelist_count);
    """)


MIGRATIONS: tuple[Callable[[SqlConnection], None], ...] = (
    create_runs_and_entries,
    add_search,
    add_claims_filters_and_vectors,
    add_words_of_every_language,
    add_traces,
)
"""The nth step makes version n, which `PRAGMA user_version` counts. Steps are never edited."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one kind of file."""

    application_id: int
    """Marks a file as one of this kind."""
    steps: Sequence[Callable[[SqlConnection], None]]
    """The nth step makes version n of the tables."""

    def check(self, connection: SqlConnection, name: str) -> None:
        """Refuse a file that is not ours to write to, before anything in it is changed."""
        # One transaction, because another process may be creating the tables right now.
        with transaction(connection, "DEFERRED"):
            application = _number(connection, "PRAGMA application_id")
            version = _number(connection, "PRAGMA user_version")
            tables = _number(connection, "SELECT count(*) FROM sqlite_schema")
        if application != self.application_id and (application or version or tables):
            raise ConfigurationError(
                f"{name} is the database of another program", "name another file in the store's URL"
            )
        if version > len(self.steps):
            raise ConfigurationError(
                f"{name} has schema {version}, this release knows {len(self.steps)} and older ones",
                "upgrade Sifaka, or name another file in the store's URL",
            )

    def is_current(self, connection: SqlConnection) -> bool:
        """True when the file has the tables of this release."""
        return _number(connection, "PRAGMA user_version") == len(self.steps)

    def migrate(self, connection: SqlConnection) -> None:
        """Bring the file to the newest version, one committed step at a time."""
        for number, step in enumerate(self.steps, 1):
            if _number(connection, "PRAGMA user_version") >= number:
                continue
            with transaction(connection, "IMMEDIATE"):
                # Asked again under the write lock: another process may have been faster.
                if _number(connection, "PRAGMA user_version") < number:
                    step(connection)
                    connection.execute(f"PRAGMA application_id = {self.application_id}")
                    connection.execute(f"PRAGMA user_version = {number}")


RUNS = Schema(APPLICATION_ID, MIGRATIONS)
"""The tables of a store."""


def _microseconds(moment: bytes | None) -> int:
    """Of a moment as JSON has it; 0 for what is damaged."""
    try:
        return to_microseconds(datetime.fromisoformat((moment or b"").decode()))
    except ValueError:
        return 0


def _number(connection: SqlConnection, query: str) -> int:
    return cast("int", connection.execute(query).get)
