"""What a version leaves outside its entry, so that it is found: put there, and taken away."""

from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.sqlite.connection import Connection
from sifaka.storage.timestamps import to_microseconds


def index_version(
    connection: Connection, tenant: str, run: Run, seq: int, thought: Thought
) -> None:
    """Make one version findable; part of the transaction that stores it."""
    connection.execute(
        "INSERT INTO versions (tenant, run_id, seq, created_at) VALUES (?, ?, ?, ?)",
        (tenant, run.run_id, seq, to_microseconds(thought.created_at)),
    )
    connection.execute(
        "INSERT INTO version_search (rowid, text, prompt) VALUES (?, ?, ?)",
        (connection.last_insert_rowid(), thought.text, run.prompt),
    )


def unindex_versions(connection: Connection, tenant: str, run_id: str) -> None:
    """Make the versions of a run unfindable; part of the transaction that deletes it."""
    # The index has no texts and has to be told what it holds. That is not known of a damaged entry;
    # what stays of it leads nowhere, because a version's number is never given to another one.
    connection.execute(
        """
        INSERT INTO version_search (version_search, rowid, text, prompt)
            SELECT 'delete', id, text, prompt FROM version_texts
            WHERE id IN (SELECT id FROM versions WHERE tenant = ? AND run_id = ?)
              AND text IS NOT NULL AND prompt IS NOT NULL
        """,
        (tenant, run_id),
    )
