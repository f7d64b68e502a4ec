import json
import logging
import os
import shutil
import stat
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from sifaka.errors import Fenced, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Drafted, Entry, Validated
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.files import FileStorage

pytestmark = pytest.mark.anyio
Begin = Callable[..., Awaitable[Run]]
Draft = Callable[..., Awaitable[Run]]


def content(file: Path) -> bytes:
    return file.read_bytes()


def write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def cut_off(file: Path) -> None:
    """Take the end of the last line away."""
    file.write_bytes(file.read_bytes()[:-2])


def change(file: Path, old: bytes, new: bytes) -> None:
    file.write_bytes(file.read_bytes().replace(old, new))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def store(tmp_path: Path) -> FileStorage:
    return FileStorage(tmp_path / "runs")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "default" / "run_1.jsonl"


async def test_a_run_is_a_file_that_a_person_can_read(
    store: FileStorage, file: Path, begin: Begin, draft: Draft
) -> None:
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


async def test_files_and_folders_are_their_owners(
    store: FileStorage, file: Path, begin: Begin
) -> None:
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


async def test_reading_an_unknown_run_makes_no_folder(store: FileStorage, tmp_path: Path) -> None:
    for reading in (store.load("x"), store.claim("x")):
        with pytest.raises(ThoughtNotFound):
            await reading
    await store.delete("x")
    assert names(tmp_path) == []


@pytest.mark.slow
async def test_wherever_an_append_was_cut_off_all_of_it_is_gone(
    store: FileStorage, file: Path, begin: Begin, draft: Draft
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
    store: FileStorage, file: Path, begin: Begin, draft: Draft, left: int
) -> None:
    run = await begin(store)
    whole = content(file)
    await draft(store, run, "lost", "lost too")
    write(file, whole + content(file)[len(whole) :][:left])

    after = await draft(FileStorage(store.folder), run, "kept")

    assert await store.load("run_1") == after
    assert b"lost" not in content(file)
    assert content(file).startswith(whole)


async def test_a_run_whose_first_entry_was_cut_off_never_was(
    store: FileStorage, file: Path, begin: Begin
) -> None:
    await begin(store)
    cut_off(file)

    with pytest.raises(ThoughtNotFound):
        await store.load("run_1")
    assert (await store.recent(limit=5)).runs == ()
    run = await begin(store)
    assert await store.load("run_1") == run


async def test_a_claim_that_was_cut_off_counts_for_nothing(
    store: FileStorage, file: Path, begin: Begin
) -> None:
    run = await begin(store)
    await store.claim("run_1")
    await store.claim("run_1")
    cut_off(file)

    assert await FileStorage(store.folder).claim("run_1") == 2
    assert await store.load("run_1") == run


async def test_damage_is_told_with_its_entry_and_harms_no_other_run(
    store: FileStorage,
    file: Path,
    begin: Begin,
    draft: Draft,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await draft(store, await begin(store), "alpha", "beta")
    other = await draft(store, await begin(store, "run_2"), "beta")
    change(file, b'"text":"alpha"', b'"text":"alp\x00a"')

    with pytest.raises(StorageError, match="entry 2 of run 'run_1' cannot be read"):
        await store.load("run_1")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert [line.run_id for line in (await store.recent(limit=5)).runs] == ["run_2"]
            hits = (await store.search("beta", limit=5)).hits
            assert [hit.run_id for hit in hits] == ["run_2"]
        assert await store.load("run_2") == other
        assert [str(file) in record.getMessage() for record in caplog.records] == [True]
        change(file, b"alp\x00a", b"al\x00\x00a")
        await store.recent(limit=5)
    assert len(caplog.records) == 2


async def test_a_file_under_anothers_name_is_no_run(
    store: FileStorage, file: Path, begin: Begin, caplog: pytest.LogCaptureFixture
) -> None:
    await begin(store)
    write(file.with_name("run_9.jsonl"), content(file))

    with pytest.raises(StorageError, match=r"holds the run 'run_1'.*run_1\.jsonl"):
        await store.load("run_9")
    assert [line.run_id for line in (await store.recent(limit=5)).runs] == ["run_1"]
    assert "run_9.jsonl" in caplog.text


def spoil_unnoticed(file: Path) -> None:
    """Change a file without changing its size and its time."""
    before = file.stat()
    file.write_bytes(b"x" * before.st_size)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


async def test_a_list_reads_only_the_files_that_have_changed(
    store: FileStorage, file: Path, begin: Begin, draft: Draft
) -> None:
    run = await draft(store, await begin(store), "x")
    spoil_unnoticed(file)

    assert (await store.recent(limit=5)).runs == (run.summary(),)
    assert (await FileStorage(store.folder).recent(limit=5)).runs == ()


async def test_what_other_processes_write_is_seen_at_once(
    store: FileStorage, begin: Begin, draft: Draft
) -> None:
    other = FileStorage(store.folder)
    run = await begin(store)
    for number in range(20):
        writer, reader = (store, other) if number % 2 else (other, store)
        run = await draft(writer, run, f"version {number}")
        assert (await reader.recent(limit=1)).runs == (run.summary(),)
    await other.delete("run_1")
    assert (await store.recent(limit=1)).runs == ()
    assert await begin(store)


async def test_a_repeat_of_half_of_what_is_there_is_done_already(
    store: FileStorage, begin: Begin, draft: Draft
) -> None:
    run = await begin(store)
    after = await draft(store, run, "one", "two")
    entries: list[Entry] = []
    async with aclosing(store.follow("run_1")) as steps:
        async for entry, at in steps:
            entries.append(entry)
            if at == after:
                break

    await store.append(run.apply(entries[1]), entries[1:2], expected_version=1)
    await store.append(after, entries, expected_version=0)

    assert await store.load("run_1") == after


def without_last_newline(content: bytes) -> bytes:
    return content.removesuffix(b"\n")


def with_empty_lines(content: bytes) -> bytes:
    return content + b"\n\r\n"


def with_windows_lines(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


@pytest.mark.parametrize("edit", [without_last_newline, with_empty_lines, with_windows_lines])
@pytest.mark.parametrize("last", ["entry", "claim"])
async def test_what_an_editor_does_to_the_ends_of_lines_costs_nothing(
    store: FileStorage,
    file: Path,
    begin: Begin,
    draft: Draft,
    edit: Callable[[bytes], bytes],
    last: str,
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


async def test_an_entry_that_lost_its_newline_is_recognised_when_it_is_repeated(
    store: FileStorage, file: Path, begin: Begin, draft: Draft
) -> None:
    run = await begin(store)
    entry = Drafted(thought=Thought(run_id="run_1", text="x"))
    after = run.apply(entry)
    await store.append(after, [entry], expected_version=1)
    write(file, without_last_newline(content(file)))

    await store.append(after, [entry], expected_version=1)
    after = await draft(store, after, "y")

    assert await store.load("run_1") == after


async def test_what_is_no_file_of_ours_is_passed_over(
    store: FileStorage, file: Path, begin: Begin
) -> None:
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
    store: FileStorage, file: Path, begin: Begin, draft: Draft
) -> None:
    run = await draft(store, await begin(store), "x")
    validated = Validated(thought_id=run.thoughts[0].id, results={})
    await store.append(run.apply(validated), [validated], expected_version=run.version)
    change(file, validated.thought_id.encode() + b'","results"', b'none","results"')

    with pytest.raises(StorageError, match="entry 3 of run 'run_1'"), anyio.fail_after(30):
        async for _ in store.follow("run_1"):
            pass


async def test_a_folder_that_is_removed_begins_anew(
    store: FileStorage, begin: Begin, draft: Draft
) -> None:
    run = await draft(store, await begin(store), "x")
    shutil.rmtree(store.folder)

    with pytest.raises(VersionConflict):
        await draft(store, run, "y")
    assert (await store.recent(limit=5)).runs == ()
    assert (await draft(store, await begin(store), "z")).version == 2


async def test_listing_what_is_empty_makes_no_folder(store: FileStorage, tmp_path: Path) -> None:
    assert (await store.recent(limit=5)).runs == ()
    assert (await store.search("x", limit=5)).hits == ()
    assert names(tmp_path) == []
