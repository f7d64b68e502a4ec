import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from sifaka.errors import StorageError
from sifaka.record.run import Run
from sifaka.storage.files import FileStorage
from sifaka.storage.files import durable as file_lock

pytestmark = pytest.mark.anyio
Begin = Callable[..., Awaitable[Run]]
Draft = Callable[..., Awaitable[Run]]
HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_what_does_not_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "append_until_full.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    told = f"the store '{tmp_path}' does not fit on the disk any more — free some space"
    assert [line[: len(told)] for line in done.stdout.splitlines()] == [told, told]
    run = anyio.run(FileStorage(tmp_path).load, "run_1")
    assert [thought.text[0] for thought in run.thoughts] == ["x", "z"]
    assert b"y" * 100 not in (tmp_path / "default" / "run_1.jsonl").read_bytes()
    assert not (tmp_path / "default" / "run_2.jsonl").exists()


async def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path: Path, begin: Begin) -> None:
    (tmp_path / "file").write_text("not a folder")
    store = FileStorage(tmp_path / "file" / "runs")

    for failing in (begin(store), store.recent(limit=1), store.load("x"), store.delete("x")):
        with pytest.raises(StorageError) as caught:
            await failing
        assert str(caught.value) == (
            f"the store '{tmp_path}/file/runs' cannot be used: Not a directory"
            " — name a folder that you may read and write"
        )
    (health,) = await store.health()
    assert not health.works
    assert "Not a directory" in health.found


def size_of(path: Path) -> int:
    return path.stat().st_size


@pytest.fixture
def sealed(tmp_path: Path) -> Generator[Path]:
    """A folder that not even root can write, if this system can make one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "runs"
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("only root can make a folder that cannot be written")
        yield folder
        subprocess.run(["umount", str(folder)], check=True)


async def test_what_lies_on_a_read_only_disk_can_be_read_and_not_written(
    sealed: Path, begin: Begin, draft: Draft
) -> None:
    store = FileStorage(sealed)
    run = await draft(store, await begin(store), "x")
    page = await store.recent(limit=1)
    await anyio.run_process(["mount", "-o", "remount,ro", str(sealed)])

    later = FileStorage(sealed)
    assert await later.load("run_1") == run
    assert await later.recent(limit=1) == page
    with pytest.raises(StorageError, match="cannot be used: Read-only file system"):
        await draft(later, run, "y")
    assert [health.works for health in await later.health()] == [False]


async def test_a_full_disk_is_told_and_is_written_again_when_there_is_room(
    sealed: Path, begin: Begin, draft: Draft
) -> None:
    store = FileStorage(sealed)
    run = await begin(store)
    before = size_of(sealed / "default" / "run_1.jsonl")
    ballast = sealed / "ballast"
    ballast.write_bytes(b"x" * 900_000)

    with pytest.raises(StorageError, match="does not fit on the disk any more"):
        await draft(store, run, "y" * 200_000)
    assert await store.load("run_1") == run
    assert size_of(sealed / "default" / "run_1.jsonl") == before

    ballast.unlink()
    after = await draft(store, run, "y" * 200_000)
    assert await FileStorage(sealed).load("run_1") == after


async def test_who_waits_too_long_for_the_lock_may_try_again(
    tmp_path: Path, begin: Begin, draft: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStorage(tmp_path)
    run = await begin(store)
    monkeypatch.setattr(file_lock, "BUSY_SECONDS", 0.05)

    with file_lock.exclusive(tmp_path / "default" / ".store"):
        with pytest.raises(StorageError, match="kept locked by another process") as caught:
            await draft(store, run, "y")
        assert caught.value.retryable
        assert await store.load("run_1") == run
    assert (await draft(store, run, "y")).version == 2


async def test_an_append_whose_caller_is_cancelled_is_whole(
    tmp_path: Path, begin: Begin, draft: Draft
) -> None:
    store = FileStorage(tmp_path)
    run = await begin(store)
    writers = store._writers._limiters.get()  # pyright: ignore[reportPrivateUsage]

    async def append() -> None:
        await draft(store, run, "one", "two")

    with ExitStack() as held, anyio.fail_after(30):
        held.enter_context(file_lock.exclusive(tmp_path / "default" / ".store"))
        async with anyio.create_task_group() as group:
            group.start_soon(append)
            while not writers.borrowed_tokens:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
            held.close()

    assert (await store.load("run_1")).version == 3


async def test_health_counts_the_runs(tmp_path: Path, begin: Begin) -> None:
    store = FileStorage(tmp_path)
    await begin(store)
    await begin(store.scoped("guest"), "run_2")
    await begin(store, "run_3")
    (health,) = await store.health()
    assert (health.works, health.found) == (True, f"2 runs in '{tmp_path}/default'")
