"""What a database has to offer, through its tools, for runs to be kept in it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sifaka.storage.cursor import Position


class RunKey(NamedTuple):
    """Whose run it is and which."""

    tenant: str
    run_id: str


class Listing(NamedTuple):
    """A run's place in the list of runs, and what is shown there."""

    at: int
    """Microseconds of its last entry."""
    line: str
    """Its summary, made by `pack`."""


class RunLog(Protocol):
    """Logs of records, one a run, and a list of the runs.

    Values are made by `pack`. Every method raises `StorageError` when the database fails.
    """

    @property
    def trouble(self) -> tuple[str, ...]:
        """What was found not to work as it should, one line each."""
        ...

    async def read(self, key: RunKey, start: int) -> Sequence[tuple[int, str]]:
        """The values from a position on, in their order, with their positions."""
        ...

    async def push(
        self, key: RunKey, position: int, record_id: str, value: str, listing: Listing | None
    ) -> None:
        """Add a value at the end of a log, which should be this position.

        Where records and the list are one, the listing is kept with it; None for what is not shown.
        """
        ...

    async def list_run(self, key: RunKey, listing: Listing) -> None:
        """Put a run at its place in the list, where that is not done by `push`."""
        ...

    async def newest(
        self, tenant: str, before: Position, limit: int
    ) -> Sequence[tuple[Position, str | None]]:
        """The newest runs before a place, newest first, each with its line if there is one."""
        ...

    async def forget(self, key: RunKey) -> None:
        """Remove a run; one that is unknown is forgotten."""
        ...

    async def cursor_key(self) -> str:
        """What seals this database's cursors, made on first use."""
        ...

    async def look(self) -> str:
        """What the server is, in one line."""
        ...
