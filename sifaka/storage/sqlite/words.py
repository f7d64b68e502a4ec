"""The words of versions in FTS5, and the filters of a search as SQL."""

import json
import time

from sifaka.storage.cursor import to_microseconds
from sifaka.storage.protocol import Filters
from sifaka.storage.sqlite.connection import SqlConnection, number_of, transaction
from sifaka.text.search_terms import language_of, text_terms

SECONDS = 2.0
"""The time that a search spends on versions without words before it answers."""
SLICE = 0.1
"""Seconds for which other writers wait while versions get their words."""
_BATCH = 50
_WAITING = "SELECT count(*) FROM versions_without_words"


def catch_up_words(connection: SqlConnection, seconds: float = SECONDS) -> int:
    """Index versions that have no words yet, the newest first, for about so long.

    Returns:
        The versions that are left, of all tenants.
    """
    deadline = time.monotonic() + seconds
    while left := number_of(connection, _WAITING):
        if time.monotonic() >= deadline or connection.readonly("main"):
            return left
        with transaction(connection, "IMMEDIATE"):
            _index_batch(connection)
    return 0


def catch_up_at_close(connection: SqlConnection) -> None:
    """Index what waits, for a moment, unless another process writes just then."""
    connection.execute("PRAGMA busy_timeout = 0").fetchall()
    catch_up_words(connection, SLICE)


def count_without_words(connection: SqlConnection, tenant: str) -> int:
    """The versions of a tenant that are not indexed yet."""
    return number_of(connection, f"{_WAITING} JOIN versions USING (id) WHERE tenant = ?", tenant)


def _index_batch(connection: SqlConnection) -> None:
    deadline = time.monotonic() + SLICE
    waiting = connection.execute(
        "SELECT id FROM versions_without_words ORDER BY id DESC LIMIT ?", (_BATCH,)
    ).fetchall()
    # As bytes, because text may be damaged. An outer join would read the texts of all versions.
    rows = connection.execute(
        """
        SELECT id, CAST(text AS BLOB), CAST(prompt AS BLOB) FROM version_texts
        WHERE id IN (SELECT value FROM json_each(?)) AND text IS NOT NULL AND prompt IS NOT NULL
        """,
        (json.dumps([version for (version,) in waiting]),),
    )
    written = {
        version: [each.decode(errors="replace") for each in texts] for version, *texts in rows
    }
    for (version,) in waiting:
        if version in written:  # a damaged one has no words
            _index(connection, version, *written[version])
        connection.execute("DELETE FROM versions_without_words WHERE id = ?", (version,))
        if time.monotonic() >= deadline:
            break


def _index(connection: SqlConnection, version: int, text: str, prompt: str) -> None:
    language = language_of(text, prompt)
    connection.execute(
        "INSERT INTO version_words (rowid, text, prompt) VALUES (?, ?, ?)",
        (version, *(" ".join(text_terms(each, language)) for each in (text, prompt))),
    )


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
