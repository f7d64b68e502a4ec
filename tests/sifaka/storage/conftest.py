from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite.connection import SqlConnection


@pytest.fixture
def sql() -> Callable[..., list[tuple[Any, ...]]]:
    """Runs SQL on a file as any other program would."""

    def run(path: Path, statements: str, bindings: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        connection = apsw.Connection(str(path))
        try:
            return cast("SqlConnection", connection).execute(statements, bindings).fetchall()
        finally:
            connection.close()

    return run


@pytest.fixture
def keep() -> Callable[..., Awaitable[Run]]:
    """Stores a run of some texts, in one append."""

    async def keep(
        store: ThoughtStore, *texts: str, prompt: str = "", tags: tuple[str, ...] = ()
    ) -> Run:
        started = Started(prompt=prompt, tags=tags)
        drafted = [
            Drafted(thought=Thought(run_id=started.run_id, iteration=n, prompt=prompt, text=text))
            for n, text in enumerate(texts)
        ]
        entries: list[Entry] = [started, *drafted]
        run = Run.replay(entries)
        await store.append(run, entries, expected_version=0)
        return run

    return keep
