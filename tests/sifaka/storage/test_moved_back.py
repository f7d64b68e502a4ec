"""A backup in the place of a log on disk: no rival, and what it lacks is stored again."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sifaka.errors import ThoughtNotFound, VersionConflict
from sifaka.record.run import Run
from sifaka.storage.files import FileStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.retention import Policy, carry_out, plan
from sifaka.storage.sqlite import SQLiteStorage
from tests.storage_contract.runs import entries_of, made
from tests.stubs.runs import stop

pytestmark = pytest.mark.anyio
Make = Callable[[Path], ThoughtStore]


def sqlite(folder: Path) -> ThoughtStore:
    return SQLiteStorage(folder / "runs.db")


def files(folder: Path) -> ThoughtStore:
    return FileStorage(folder)


KINDS = pytest.mark.parametrize("make", [sqlite, files])


async def keep(store: ThoughtStore, text: str) -> Run:
    entries = entries_of(made(text))
    run = Run.replay(entries)
    await store.append(run, entries, expected_version=0)
    return run


def restore(folder: Path) -> None:
    """Put the copy in the place of the folder."""
    folder.rename(folder.with_name("lost"))
    shutil.copytree(folder.with_name("backup"), folder)


@KINDS
async def test_a_run_goes_on_although_a_backup_lacks_its_last_entries(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "store"
    first = make(folder)
    other = await keep(first, "other")
    await first.aclose()
    shutil.copytree(folder, tmp_path / "backup")
    store = make(folder)
    other = await stop(store, other)
    run = await keep(store, "one")
    restore(folder)
    with caplog.at_level(logging.WARNING):
        run = await stop(store, run)
        assert await store.load(run.run_id) == run
        assert "had lost entries 1 to 2 of run" in caplog.text
        assert (await store.load(other.run_id)).status == "running"
        assert await store.catch_up() == 0
    # The first entries of this one were not written by this process, the last one was.
    assert await store.load(other.run_id) == other
    await store.aclose()


@KINDS
async def test_a_rival_is_one_and_what_was_deleted_or_forgotten_stays_so(
    make: Make, tmp_path: Path
) -> None:
    folder = tmp_path / "store"
    store, second = make(folder), make(folder)
    run, deleted, forgotten = [await keep(store, text) for text in ("one", "two", "three")]
    await stop(second, run)
    with pytest.raises(VersionConflict) as conflict:
        await stop(store, run)
    assert conflict.value.found == 3
    await second.delete(deleted.run_id)
    with pytest.raises(VersionConflict):
        await stop(store, deleted)
    every = await plan(store, Policy(max_runs=0, keep_unfinished=False))
    assert {leaving.run.run_id for leaving in every.leaving} == {run.run_id, forgotten.run_id}
    await carry_out(store, every)
    await second.aclose()
    restored = await keep(store, "four")
    shutil.copytree(folder, tmp_path / "backup")
    restore(folder)
    assert await store.catch_up() == 0
    for gone in (run, forgotten):
        with pytest.raises(ThoughtNotFound):
            await store.load(gone.run_id)
    assert await store.load(restored.run_id) == restored
    await store.aclose()
