"""One SQLite connection, used from worker threads so that no event loop ever waits for a disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from anyio import CancelScope

from sifaka.errors import SifakaError, StorageError
from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.schema import RUNS, Schema
from sifaka.storage.store import Threads

if TYPE_CHECKING:
    from sifaka.storage.sqlite.file import OpenFile

T = TypeVar("T")


class SQLiteWorker:
    """Runs functions on the connection, one at a time, in a thread.

    Nothing in it belongs to an event loop, so it outlives them; the file is opened by the first
    function that needs it.

    Args:
        path: The file.
        schema: What is in it.
        at_close: Does some work that was put off, when the file is about to be closed. Its failure
            is no failure of closing.
    """

    def __init__(
        self,
        path: Path,
        schema: Schema = RUNS,
        at_close: Callable[[SqlConnection], object] | None = None,
    ) -> None:
        self._path = path
        self._schema = schema
        self._at_close = at_close
        self._guard = threading.Lock()
        self._file: OpenFile | None = None
        self._closed = False
        # The guard is for several loops at once; the tasks of one take turns here.
        self._threads = Threads("sifaka.storage.sqlite", 1)

    @property
    def used(self) -> bool:
        """True when the file is open."""
        return self._file is not None

    async def run(self, work: Callable[[SqlConnection], T]) -> T:
        """The function's result. A task that is cancelled meanwhile waits for its end."""
        return await self._threads.run(lambda: self._run(work))

    async def aclose(self) -> None:
        """Close the file when the function at work is done; further calls change nothing."""
        with CancelScope(shield=True):
            await self._threads.run(self._close)

    def _run(self, work: Callable[[SqlConnection], T]) -> T:
        from sifaka.storage.sqlite import file as sqlite_file

        with self._guard:
            if self._closed:
                raise StorageError(f"the store {str(self._path)!r} is closed", "open it again")
            with sqlite_file.failures(self._path):
                if self._file is not None and not self._file.current:
                    self._file, former = None, self._file
                    sqlite_file.close_file(former)
                if self._file is None:
                    self._file = sqlite_file.open_file(self._path, self._schema)
                return work(self._file.sql)

    def _close(self) -> None:
        with self._guard:
            self._closed = True
            if self._file is not None:
                from sifaka.storage.sqlite import file as sqlite_file

                self._file, open_file = None, self._file
                try:
                    if self._at_close is not None and open_file.current:
                        with suppress(SifakaError), sqlite_file.failures(self._path):
                            self._at_close(open_file.sql)
                finally:
                    sqlite_file.close_file(open_file)
