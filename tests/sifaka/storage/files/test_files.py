"""Runs as files: what a person reads in them, what damages them, what they are called."""

import json
import logging
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from sifaka.errors import Fenced, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Validated
from sifaka.record.run import Run
from sifaka.storage.files import FileStorage
from sifaka.storage.files import durable as file_lock
from sifaka.storage.files.durable import file_name
from sifaka.storage.protocol import ThoughtStore
from tests.stubs.runs import draft, keep, listed, names

pytestmark = pytest.mark.anyio


async def begin(store: ThoughtStore, run_id: str = "run_1") -> Run:
    """Store a run of one entry."""
    return await keep(store, run_id=run_id, prompt="Say it.")


def content(file: Path) -> bytes:
    return file.read_bytes()


def write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def change(file: Path, old: bytes, new: bytes) -> None:
    file.write_bytes(file.read_bytes().replace(old, new))


@pytest.fixture
def store(tmp_path: Path) -> FileStorage:
    return FileStorage(tmp_path / "runs")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "default" / "run_1.jsonl"


async def test_a_run_is_a_file_that_a_person_can_read(store: FileStorage, file: Path) -> None:
    run = await draft(store, await begin(store), "Grüße, 日本.")
    fence = await store.claim("run_1")
    await draft(store, run, "One.", "Two.", fence=fence)
    lines = content(file).decode().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == [
        *("started", "drafted", "claim", "append", "drafted", "drafted")
    ]
    assert '"text":"Grüße, 日本."' in lines[1]
    assert (lines[2], lines[3]) == ('{"kind":"claim","fence":1}', '{"kind":"append","entries":2}')
    assert names(file.parent) == [".store", "run_1.jsonl"]


async def test_files_and_folders_are_their_owners(store: FileStorage, file: Path) -> None:
    previous = os.umask(0)
    try:
        await begin(store)
        await store.recent(limit=1)
    finally:
        os.umask(previous)
    for folder in (file.parent, file.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in (file, file.parent / ".store"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_reading_what_is_not_there_makes_no_folder(
    store: FileStorage, tmp_path: Path
) -> None:
    for reading in (store.load("x"), store.claim("x")):
        with pytest.raises(ThoughtNotFound):
            await reading
    await store.delete("x")
    assert (await store.recent(limit=5)).runs == (await store.search("x", limit=5)).hits == ()
    assert names(tmp_path) == []


@pytest.mark.slow
async def test_wherever_an_append_was_cut_off_all_of_it_is_gone(
    store: FileStorage, file: Path
) -> None:
    before = await draft(store, await begin(store), "first")
    whole = content(file)
    after = await draft(store, before, "ü", "third")
    full = content(file)
    for end in range(len(whole), len(full) + 1):
        write(file, full[:end])
        # Without its `\n` the last line is whole all the same: half of one is never JSON.
        assert await store.load("run_1") == (after if end >= len(full) - 1 else before), end


@pytest.mark.parametrize("left", [1, 40, -2])
async def test_the_next_append_cuts_off_what_was_left_of_the_last(
    store: FileStorage, file: Path, left: int
) -> None:
    run = await begin(store)
    whole = content(file)
    await draft(store, run, "lost", "lost too")
    write(file, whole + content(file)[len(whole) :][:left])
    after = await draft(FileStorage(store.folder), run, "kept")
    assert await store.load("run_1") == after
    assert b"lost" not in content(file)
    assert content(file).startswith(whole)


async def test_damage_is_told_with_its_entry_and_harms_no_other_run(
    store: FileStorage, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await draft(store, await begin(store), "alpha", "beta")
    other = await draft(store, await begin(store, "run_2"), "beta")
    change(file, b'"text":"alpha"', b'"text":"alp\x00a"')

    with pytest.raises(StorageError, match="entry 2 of run 'run_1' cannot be read"):
        await store.load("run_1")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert await listed(store) == ["run_2"]
            hits = (await store.search("beta", limit=5)).hits
            assert [hit.run_id for hit in hits] == ["run_2"]
        assert await store.load("run_2") == other
        assert [str(file) in record.getMessage() for record in caplog.records] == [True]
        change(file, b"alp\x00a", b"al\x00\x00a")
        await store.recent(limit=5)
    assert len(caplog.records) == 2


async def test_a_file_under_anothers_name_is_no_run(
    store: FileStorage, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await begin(store)
    write(file.with_name("run_9.jsonl"), content(file))
    with pytest.raises(StorageError, match=r"holds the run 'run_1'.*run_1\.jsonl"):
        await store.load("run_9")
    assert await listed(store) == ["run_1"]
    assert "run_9.jsonl" in caplog.text


def spoil_unnoticed(file: Path) -> None:
    """Change a file without changing its size and its time."""
    before = file.stat()
    file.write_bytes(b"x" * before.st_size)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


async def test_a_list_reads_only_the_files_that_have_changed(
    store: FileStorage, file: Path
) -> None:
    run = await draft(store, await begin(store), "x")
    spoil_unnoticed(file)
    assert (await store.recent(limit=5)).runs == (run.summary(),)
    assert (await FileStorage(store.folder).recent(limit=5)).runs == ()


def without_last_newline(content: bytes) -> bytes:
    return content.removesuffix(b"\n")


def with_empty_lines(content: bytes) -> bytes:
    return content + b"\n\r\n"


def with_windows_lines(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


@pytest.mark.parametrize("edit", [without_last_newline, with_empty_lines, with_windows_lines])
@pytest.mark.parametrize("last", ["entry", "claim"])
async def test_what_an_editor_does_to_the_ends_of_lines_costs_nothing(
    store: FileStorage, file: Path, edit: Callable[[bytes], bytes], last: str
) -> None:
    run = await begin(store)
    fence = await store.claim("run_1")
    run = await draft(store, run, "one", "two", fence=fence)
    if last == "claim":
        fence = await store.claim("run_1")
    write(file, edit(content(file)))

    for view in (store, FileStorage(store.folder)):
        assert await view.load("run_1") == run
        assert (await view.recent(limit=5)).runs == (run.summary(),)
    with pytest.raises(Fenced):
        await draft(store, run, "late", fence=fence - 1)
    run = await draft(store, run, "three", "four", fence=fence)
    assert await FileStorage(store.folder).load("run_1") == run
    assert await store.claim("run_1") == fence + 1


async def test_what_is_no_file_of_ours_is_passed_over(store: FileStorage, file: Path) -> None:
    run = await begin(store)
    file.with_name("folder.jsonl").mkdir()
    os.mkfifo(file.with_name("pipe.jsonl"))
    file.with_name("nowhere.jsonl").symlink_to("missing.jsonl")
    file.with_name("circle.jsonl").symlink_to("circle.jsonl")
    file.with_name("notes.txt").write_text("mine")
    with anyio.fail_after(30):
        assert (await store.recent(limit=5)).runs == (run.summary(),)
        assert (await store.search("x", limit=5)).hits == ()
        assert "1 runs" in (await store.health())[0].found


async def test_a_follower_is_told_of_an_entry_that_does_not_fit(
    store: FileStorage, file: Path
) -> None:
    run = await draft(store, await begin(store), "x")
    validated = Validated(thought_id=run.thoughts[0].id, results={})
    await store.append(run.apply(validated), [validated], expected_version=run.version)
    change(file, validated.thought_id.encode() + b'","results"', b'none","results"')
    with pytest.raises(StorageError, match="entry 3 of run 'run_1'"), anyio.fail_after(30):
        async for _ in store.follow("run_1"):
            pass


async def test_a_folder_that_is_removed_begins_anew(store: FileStorage) -> None:
    run = await draft(store, await begin(store), "x")
    shutil.rmtree(store.folder)
    with pytest.raises(VersionConflict):
        await draft(store, run, "y")
    assert (await store.recent(limit=5)).runs == ()
    assert (await draft(store, await begin(store), "z")).version == 2


async def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path: Path) -> None:
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


async def test_what_lies_on_a_read_only_disk_can_be_read_and_not_written(sealed: Path) -> None:
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


async def test_a_full_disk_is_told_and_is_written_again_when_there_is_room(sealed: Path) -> None:
    store = FileStorage(sealed)
    run = await begin(store)
    before = content(sealed / "default" / "run_1.jsonl")
    ballast = sealed / "ballast"
    ballast.write_bytes(b"x" * 900_000)

    with pytest.raises(StorageError, match="does not fit on the disk any more"):
        await draft(store, run, "y" * 200_000)
    assert await store.load("run_1") == run
    assert content(sealed / "default" / "run_1.jsonl") == before

    ballast.unlink()
    after = await draft(store, run, "y" * 200_000)
    assert await FileStorage(sealed).load("run_1") == after


async def test_who_waits_too_long_for_the_lock_may_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


async def test_an_append_whose_caller_is_cancelled_is_whole(tmp_path: Path) -> None:
    store = FileStorage(tmp_path)
    run = await begin(store)
    writers = store._writer._limiters.get()  # pyright: ignore[reportPrivateUsage]

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


async def test_health_counts_the_runs(tmp_path: Path) -> None:
    store = FileStorage(tmp_path)
    await begin(store)
    await begin(store.scoped("guest"), "run_2")
    await begin(store, "run_3")
    (health,) = await store.health()
    assert (health.works, health.found) == (True, f"2 runs in '{tmp_path}/default'")


IDS = (
    *("", ".", "..", "...", "a", "A", "b/../a", "b\\a", "/etc/passwd", "C:", "-", "%", "%41", "%-"),
    *("ann@example.org", "ünï", "u\u0308ni\u0308", "日本語", "👩‍👩‍👧", "a\0b", "a\nb", "\ud800"),
    *(" a", "a ", "a.", "con", "CON", "nul", "com1", "lpt9", "%63on", "~", "x" * 120, "x" * 121),
    *("x" * 122, "ü" * 500, "run_a1B2", "run_a1b2", "RUN_A1B2", "x" * 5_000_000, ".store"),
    "run.jsonl",
)


@pytest.mark.slow
def test_every_id_has_a_name_of_its_own_where_capitals_do_not_count() -> None:
    names = [file_name(run_id).lower() for run_id in IDS]
    assert len(set(names)) == len(IDS)
    assert (file_name("run_0f3a"), file_name("default")) == ("run_0f3a", "default")


def test_a_name_is_one_that_every_file_system_takes() -> None:
    for run_id in IDS:
        name = file_name(run_id)
        assert re.fullmatch(r"[a-z0-9_%-]{1,120}", name), ascii(run_id[:9])
        assert name not in {"con", "nul", "com1", "lpt9"}
