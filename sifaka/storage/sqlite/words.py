"""The words of versions in FTS5, and the filters of a search as SQL."""

import json
import time
from typing import cast

from sifaka.storage.cursor import to_microseconds
from sifaka.storage.protocol import Filters
from sifaka.storage.sqlite.connection import SqlConnection, transaction
from sifaka.text.terms import language_of, text_terms

SECONDS = 2.0
"""The time that a search spends on versions without words before it answers."""
_LOCKED_SECONDS = 0.5
"""How long other writers wait for a batch of them."""
_BATCH = 50
_WAITING = "SELECT count(*) FROM versions_without_words JOIN versions USING (id)"


def index_words(connection: SqlConnection, version: int, text: str, prompt: str) -> None:
    """Make one version findable by its words; part of the transaction that stores it."""
    language = language_of(text, prompt)
    connection.execute(
        "INSERT INTO version_words (rowid, text, prompt) VALUES (?, ?, ?)",
        (version, *(" ".join(text_terms(each, language)) for each in (text, prompt))),
    )


def unindex_words(connection: SqlConnection, tenant: str, run_id: str) -> None:
    """Make the versions of a run unfindable; part of the transaction that deletes it."""
    connection.execute(
        """
        DELETE FROM version_words
        WHERE rowid IN (SELECT id FROM versions WHERE tenant = ? AND run_id = ?)
        """,
        (tenant, run_id),
    )


def catch_up_words(connection: SqlConnection, seconds: float = SECONDS) -> int:
    """Index versions of an older file, the newest first, for about so long.

    Returns:
        The versions that are left, of all tenants.
    """
    deadline = time.monotonic() + seconds
    while left := cast("int", connection.execute(_WAITING).get):
        if time.monotonic() >= deadline:
            return left
        with transaction(connection, "IMMEDIATE"):
            _index_batch(connection)
    return 0


def count_without_words(connection: SqlConnection, tenant: str) -> int:
    """The versions of a tenant that are not indexed yet."""
    return cast("int", connection.execute(f"{_WAITING} WHERE tenant = ?", (tenant,)).get)


def _index_batch(connection: SqlConnection) -> None:
    deadline = time.monotonic() + _LOCKED_SECONDS
    rows = connection.execute(
        """
        SELECT id, text, prompt FROM versions_without_words LEFT JOIN version_texts USING (id)
        ORDER BY id DESC LIMIT ?
        """,
        (_BATCH,),
    )
    for version, text, prompt in rows.fetchall():
        if text is not None and prompt is not None:  # a damaged one has no words
            index_words(connection, version, text, prompt)
        connection.execute("DELETE FROM versions_without_words WHERE id = ?", (version,))
        if time.monotonic() >= deadline:
            break


ADMITTED = """
    versions.tenant = ?1
    AND (?2 IS NULL OR versions.created_at >= ?2)
    AND (?3 IS NULL OR versions.created_at < ?3)
    AND (?4 IS NULL OR ?4 = (
        SELECT passed FROM runs
        WHERE runs.tenant = versions.tenant AND runs.run_id = versions.run_id))
    AND (?5 IS NULL OR NOT EXISTS (
        SELECT value FROM json_each(?5) EXCEPT SELECT tag.value
        FROM runs
        JOIN json_each(CASE WHEN json_valid(runs.tags) THEN runs.tags ELSE '[]' END) AS tag
        WHERE runs.tenant = versions.tenant AND runs.run_id = versions.run_id))
"""
"""Holds for a row of `versions` that a search looks at; its values are those of `bindings`."""


def bindings(tenant: str, only: Filters) -> tuple[object, ...]:
    """The first values of a statement that has `ADMITTED` in it; further ones are `?6` and on."""
    return (
        tenant,
        None if only.since is None else to_microseconds(only.since),
        None if only.until is None else to_microseconds(only.until),
        only.passed,
        json.dumps(only.tags) if only.tags else None,
    )
