"""One SQLite connection, used from worker threads so that no event loop ever waits for a disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sifaka.errors import SifakaError
from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.schema import RUNS, Schema
from sifaka.storage.store import Worker

if TYPE_CHECKING:
    from sifaka.storage.sqlite.file import OpenFile

T = TypeVar("T")


class SQLiteWorker(Worker[SqlConnection]):
    """Runs functions on the connection, one at a time.

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
        super().__init__("sifaka.storage.sqlite", f"the store {str(path)!r}", 1)
        self._path = path
        self._schema = schema
        self._at_close = at_close
        self._file: OpenFile | None = None

    def _run(self, work: Callable[[SqlConnection], T]) -> T:
        from sifaka.storage.sqlite import file as sqlite_file

        with sqlite_file.failures(self._path):
            return super()._run(work)

    def _open(self, known: SqlConnection | None) -> SqlConnection:
        from sifaka.storage.sqlite import file as sqlite_file

        if self._file is not None and not self._file.current:
            self._file, former = None, self._file
            sqlite_file.close_file(former)
        if self._file is None:
            self._file = sqlite_file.open_file(self._path, self._schema)
        return self._file.sql

    def _close(self, opened: SqlConnection) -> None:
        from sifaka.storage.sqlite import file as sqlite_file

        if self._file is None:
            return  # what replaced it could not be opened
        try:
            if self._at_close is not None and self._file.current:
                with suppress(SifakaError), sqlite_file.failures(self._path):
                    self._at_close(opened)
        finally:
            sqlite_file.close_file(self._file)
