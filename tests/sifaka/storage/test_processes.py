"""Processes that share a log on disk, and are killed."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from sifaka.storage import ThoughtStore, open_store
from tests.sifaka.storage.processes import start
from tests.stubs.runs import keep, sql

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite:///{}/new/runs.db", "file:///{}/new"], ids=["sqlite", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return request.param.format(tmp_path)


@pytest.fixture
async def store(url: str) -> AsyncGenerator[ThoughtStore]:
    store = open_store(url, home=Path())
    yield store
    await store.aclose()


def run_together(script: str, url: str, count: int) -> list[str]:
    """The words of four processes that start at the same moment."""
    processes = [start(script, url, name, count) for name in "abcd"]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    return " ".join(said).split()


@pytest.mark.slow
@pytest.mark.parametrize("batches", [[4], pytest.param([10, 10], marks=pytest.mark.servers)])
async def test_what_was_acknowledged_survives_kill_9_in_every_round(
    url: str, store: ThoughtStore, tmp_path: Path, batches: list[int]
) -> None:
    acknowledged: dict[str, int] = {}
    for number, size in enumerate(batches):
        batch = [f"run_{number}_{process}" for process in range(size)]
        processes = [start("append_until_killed", url, run_id) for run_id in batch]
        for least, (run_id, process) in enumerate(zip(batch, processes, strict=True)):
            with process:
                assert process.stdout
                lines = [process.stdout.readline() for _ in range(1 + 3 * least)]
                process.kill()
                # What it said before it died counts as well; a line that is cut off does not.
                lines += [line for line in process.stdout if line.endswith("\n")]
            acknowledged[run_id] = int(lines[-1])

    await store.recent(limit=1)  # a store that is not open puts nothing in order
    while await store.catch_up():
        pass  # a search gives that two seconds, and a busy machine needs more
    for run_id, version in acknowledged.items():
        run = await store.load(run_id)
        # Two entries more at most, and never one of the two.
        assert run.version in {version, version + 2}
        assert [thought.text for thought in run.thoughts] == [
            f"text {n} " * 400 for n in range(1, run.version, 2)
        ]
        assert run.undecided == ()
        # An index was written with the entry or not at all.
        hits = (await store.search(str(run.version - 2), limit=500)).hits
        assert run.thoughts[-1].id in {hit.thought_id for hit in hits}
    if url.startswith("sqlite"):
        path = tmp_path / "new" / "runs.db"
        assert sql(path, "PRAGMA integrity_check") == [("ok",)]
        assert sql(path, "PRAGMA foreign_key_check") == []
        sql(path, "INSERT INTO version_words (version_words, rank) VALUES ('integrity-check', 1)")


@pytest.mark.slow
async def test_claims_of_four_processes_are_all_different_and_no_append_is_lost(
    url: str, store: ThoughtStore
) -> None:
    await keep(store, run_id="run_1")
    fences = [int(number) for number in run_together("claim_together", url, 10)]
    assert sorted(fences) == list(range(1, len(fences) + 1))
    texts = [thought.text for thought in (await store.load("run_1")).thoughts]
    assert sorted(texts) == sorted(f"{name}:{n}" for name in "abcd" for n in range(10))
    assert await store.claim("run_1") == len(fences) + 1
