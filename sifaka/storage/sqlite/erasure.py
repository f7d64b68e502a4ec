"""Erasing what deleted runs leave in the file: indexed words, free pages, the write-ahead log.

Every connection overwrites what it deletes (`PRAGMA secure_delete`). The words of a deleted version
leave FTS5 when its segments are merged, and old pages stay in the log until it is truncated.
"""

import time

from sifaka.storage.sqlite.connection import SqlConnection, number_of, transaction

SECONDS = 2.0
"""The time that a running server spends on it at once."""
_MERGED_PAGES = 500
_FREE_SHARE = 4


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
    traces = number_of(connection, "SELECT traces FROM store")
    if not (whole or traces):
        return 0
    # A negative number begins a merge of all segments, as `optimize` does; others go on with it.
    pages = -_MERGED_PAGES
    while traces:
        with transaction(connection, "IMMEDIATE"):
            before = number_of(connection, "SELECT total_changes()")
            connection.execute(
                "INSERT INTO version_words (version_words, rank) VALUES ('merge', ?)", (pages,)
            )
            if number_of(connection, "SELECT total_changes()") - before < 2:  # there is no more
                traces = 0
                connection.execute("UPDATE store SET traces = 0")
        pages = _MERGED_PAGES
        if traces and time.monotonic() >= deadline:
            return 1
    if whole and _is_worth_rewriting(connection):
        connection.execute("VACUUM")
    truncate_log(connection)
    return 0


def truncate_log(connection: SqlConnection) -> bool:
    """Empty the write-ahead log; False while another process reads from it."""
    waits = number_of(connection, "PRAGMA busy_timeout")
    # It would keep other writers waiting for the readers.
    connection.execute("PRAGMA busy_timeout = 0").fetchall()
    try:
        (row,) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return row[0] == 0
    finally:
        connection.execute(f"PRAGMA busy_timeout = {waits}").fetchall()


def _is_worth_rewriting(connection: SqlConnection) -> bool:
    free = number_of(connection, "PRAGMA freelist_count")
    return free * _FREE_SHARE > number_of(connection, "PRAGMA page_count")
