"""What a SQLite file holds, and what is told when it may not grow any more."""

import os
import random
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from pathlib import Path
from typing import cast

import apsw
import pytest

from sifaka.errors import StorageError
from sifaka.record.entries import Critiqued, Decided, Decision, Drafted, Entry, Started, Validated
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ANY
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.search import search_versions
from tests.stubs.embedders import ConceptEmbedder
from tests.stubs.runs import catch_up, keep, sql

pytestmark = pytest.mark.anyio

WORDS = [f"word{n}" for n in range(5000)]


async def write(path: Path, iterations: int, prompt: str = "Improve it.") -> Run:
    """A run of texts of 8 KB, each made from the one before, with what a loop says about them."""
    words = random.Random(iterations)  # noqa: S311 - not for secrets
    store = SQLiteStorage(path)
    started = Started(prompt=prompt)
    run = Run.start(started)
    await store.append(run, [started], expected_version=0)
    for _ in range(iterations):
        text = " ".join(words.choices(WORDS, k=900))[:8192]
        parent = run.latest
        thought = (
            parent.next_iteration() if parent else Thought(run_id=run.run_id, prompt=prompt)
        ).with_text(text)
        entries: list[Entry] = [
            Drafted(thought=thought),
            Validated(thought_id=thought.id, results={"length": ValidationResult(passed=True)}),
            Critiqued(thought_id=thought.id, feedback=(CriticFeedback(critic="lint"),)),
            Decided(thought_id=thought.id, decision=Decision(accepted=True, note="shorter")),
        ]
        for entry in entries:
            after = run.apply(entry)
            await store.append(after, [entry], expected_version=run.version)
            run = after
    await store.aclose()
    return run


@pytest.mark.slow
async def test_a_run_grows_linearly_in_its_iterations(tmp_path: Path) -> None:
    await write(tmp_path / "10.db", 10)
    await write(tmp_path / "100.db", 100)
    small, large = ((tmp_path / name).stat().st_size for name in ("10.db", "100.db"))
    assert 100 * 8192 < large <= 11 * small


async def test_a_text_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    marker = "kangaroo-court-in-session"
    store = SQLiteStorage(path)
    started = Started(prompt="x")
    thought = Thought(run_id=started.run_id, text=f"{marker} " * 3)
    entries: list[Entry] = [started, Drafted(thought=thought)]
    await store.append(Run.replay(entries), entries, expected_version=0)
    await store.aclose()
    sql(path, "UPDATE runs SET excerpt = ''; VACUUM")
    assert path.read_bytes().count(marker.encode()) == 3


async def test_the_history_is_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    run = await write(path, 5)
    histories = sql(
        path, "SELECT DISTINCT json_type(payload, '$.thought.history') FROM entries WHERE seq > 2"
    )
    assert histories == [(None,)]
    assert len(run.thoughts[-1].history) == 4
    store = SQLiteStorage(path)
    assert await store.load(run.run_id) == run
    await store.aclose()


async def test_a_file_that_cannot_be_written_says_what_has_no_words_yet(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    await keep(store, "The zebra runs.")
    await store.aclose()
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = search_versions(cast("SqlConnection", connection), "default", "zebra", 5, ANY)
    assert found.search == "bm25 (1 version is not indexed yet)"
    connection.close()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SQLiteStorage]:
    store = SQLiteStorage(tmp_path / "runs.db", embedder=ConceptEmbedder())
    yield store
    await store.aclose()


async def allow_pages(store: SQLiteStorage, number: int) -> None:
    """Limits the file; less than it has means: no more than it has."""
    await store.worker.run(lambda c: c.execute(f"PRAGMA max_page_count = {number}").fetchall())


async def test_an_append_that_does_not_fit_changes_nothing(
    tmp_path: Path, store: SQLiteStorage
) -> None:
    run = await keep(store, "The zebra runs.")
    entry = Drafted(thought=Thought(run_id=run.run_id, iteration=1, text="giraffe " * 50_000))
    after = run.apply(entry)
    await allow_pages(store, 1)

    with pytest.raises(StorageError, match="does not fit on the disk any more") as caught:
        await store.append(after, [entry], expected_version=run.version)

    assert caught.value.suggestion == "free some space and try again"
    assert "\n" not in str(caught.value)
    assert await store.load(run.run_id) == run
    assert (await store.recent(limit=5)).runs == (run.summary(),)
    assert (await store.search("giraffe", limit=5)).hits == ()

    await allow_pages(store, 1_000_000)
    await store.append(after, [entry], expected_version=run.version)
    assert await store.load(run.run_id) == after


@pytest.fixture
def small_disk() -> Generator[Path]:
    """A disk of 2 MB, if this system can make one."""
    with tempfile.TemporaryDirectory() as name:
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", name]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("only root can make a disk")
        yield Path(name)
        subprocess.run(["umount", name], check=True)


@pytest.mark.parametrize("free", [0, 1, 2, 4, 10, 20, 60])
async def test_a_disk_without_room_is_told_whatever_does_not_fit(
    small_disk: Path, free: int
) -> None:
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        for _ in range(600):
            file.write(bytes(4096))
    os.truncate(ballast, max(0, ballast.stat().st_size // 4096 - free) * 4096)
    store = SQLiteStorage(small_disk / "runs.db", embedder=ConceptEmbedder())

    async def fill() -> None:
        while True:
            await keep(store, "An automobile. " * 1000)
            await store.catch_up()

    with pytest.raises(StorageError, match="does not fit on the disk any more"):
        await fill()

    ballast.unlink()
    run = await keep(store, "A car.")
    assert await store.load(run.run_id) == run
    await catch_up(store)
    await store.aclose()
