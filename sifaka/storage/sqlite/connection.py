"""The part of apsw's connection that the SQL in this package uses, without importing apsw."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

UNREADABLE = (TypeError, ValueError, OverflowError)
"""The errors of a damaged row: a value of another type, text that is not UTF-8, no moment."""


class Rows(Protocol):
    """The rows of a statement, fetched as they are asked for."""

    @property
    def get(self) -> Any:
        """The only value, when there is one row of one column."""

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        ...

    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...


class SqlConnection(Protocol):
    """An open database."""

    @property
    def in_transaction(self) -> bool:
        """True while a transaction is open."""
        ...

    def readonly(self, name: str, /) -> bool:
        """True when a database of the connection, such as `main`, may only be read."""
        ...

    def execute(self, statements: str, bindings: Sequence[object] | None = None, /) -> Rows:
        """Run statements; the rows are the last one's."""
        ...

    def last_insert_rowid(self) -> int:
        """The number of the row that was inserted last."""
        ...

    def enable_load_extension(self, enable: bool, /) -> None:
        """Allow loading extensions, or forbid it again."""

    def load_extension(self, filename: str, /) -> None:
        """Load an extension, for this connection only."""


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
