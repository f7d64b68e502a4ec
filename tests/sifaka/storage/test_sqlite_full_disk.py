"""A file that may not grow any more: the nearest to a full disk that a test can have."""

import os
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest

from sifaka.errors import StorageError
from sifaka.record.entries import Drafted
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.sqlite import SQLiteStorage
from tests.stubs.embedders import ConceptEmbedder

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SQLiteStorage]:
    store = SQLiteStorage(tmp_path / "runs.db", embedder=ConceptEmbedder())
    yield store
    await store.aclose()


async def allow_pages(store: SQLiteStorage, number: int) -> None:
    """Limits the file; less than it has means: no more than it has."""
    await store.worker.run(lambda c: c.execute(f"PRAGMA max_page_count = {number}").fetchall())


async def test_an_append_that_does_not_fit_changes_nothing(
    tmp_path: Path, store: SQLiteStorage, keep: Keep
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


async def test_vectors_that_do_not_fit_are_made_later(
    tmp_path: Path, store: SQLiteStorage, keep: Keep
) -> None:
    run = await keep(store, "An automobile.")
    await allow_pages(store, 1)

    with pytest.raises(StorageError, match="does not fit on the disk any more"):
        await store.catch_up()

    assert [hit.run_id for hit in (await store.search("automobile", limit=5)).hits] == [run.run_id]
    await allow_pages(store, 1_000_000)
    assert await store.catch_up() == 0
    assert [hit.run_id for hit in (await store.search("car", limit=5)).hits] == [run.run_id]


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
    small_disk: Path, free: int, keep: Keep
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
    while await store.catch_up():
        pass
    await store.aclose()
