from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from sifaka.storage.sqlite_connection import Connection


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def sql() -> Callable[..., list[tuple[Any, ...]]]:
    """Runs SQL on a file as any other program would."""

    def run(path: Path, statements: str, bindings: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        connection = apsw.Connection(str(path))
        try:
            return cast("Connection", connection).execute(statements, bindings).fetchall()
        finally:
            connection.close()

    return run
