"""What the SQL of this package does to a connection, without importing apsw."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

UNREADABLE = (TypeError, ValueError, OverflowError)
"""The errors of a damaged row: a value of another type, text that is not UTF-8, no moment."""


SqlConnection: TypeAlias = Any
"""An `apsw.Connection`, whose types are not those of every Python that is supported."""


def number_of(connection: SqlConnection, query: str, *bindings: object) -> int:
    """The only value of a query, a number."""
    return connection.execute(query, bindings).get


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
