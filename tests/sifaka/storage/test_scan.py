from collections.abc import Awaitable, Callable

import pytest

from sifaka.errors import StorageError
from sifaka.record.run import Run
from sifaka.storage.bm25 import scan_log
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ANY, Filters

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


async def test_a_scan_reads_the_latest_runs_and_says_so(keep: Keep) -> None:
    log = MemoryStorage()
    runs = [await keep(log, f"zebra number{n}") for n in range(45)]

    async def found(latest: int | None) -> tuple[set[str], str]:
        hits = await scan_log(log, "zebra", limit=100, only=ANY, latest=latest)
        return {hit.run_id for hit in hits.hits}, hits.search

    assert await found(None) == ({run.run_id for run in runs}, "bm25")
    assert await found(45) == ({run.run_id for run in runs}, "bm25")
    assert await found(44) == ({run.run_id for run in runs[1:]}, "bm25 (the latest 44 runs)")
    assert await found(1) == ({runs[-1].run_id}, "bm25 (the latest 1 runs)")


class Counting:
    """Notes which runs of a log are read; one of them is damaged."""

    def __init__(self, log: MemoryStorage) -> None:
        self.log = log
        self.read: list[str] = []
        self.failure: StorageError | None = None
        self.recent = log.recent

    async def load(self, run_id: str) -> Run:
        self.read.append(run_id)
        if self.failure is not None and self.read[0] == run_id:
            raise self.failure
        return await self.log.load(run_id)


async def test_runs_that_a_filter_leaves_out_are_not_read(keep: Keep) -> None:
    log = MemoryStorage()
    await keep(log, "zebra")
    new = await keep(log, "zebra", tags=("legal",))
    counting = Counting(log)
    only = Filters(since=new.thoughts[0].created_at)

    hits = await scan_log(counting, "zebra", limit=5, only=only, latest=None)  # pyright: ignore[reportArgumentType] - the half of a log that is needed

    assert [hit.run_id for hit in hits.hits] == counting.read == [new.run_id]


@pytest.mark.parametrize("retryable", [False, True])
async def test_a_damaged_run_is_left_out_and_a_log_that_is_away_is_told(
    keep: Keep, retryable: bool
) -> None:
    log = MemoryStorage()
    run = await keep(log, "zebra")
    await keep(log, "zebra")
    counting = Counting(log)
    counting.failure = StorageError("entry 2 cannot be read", retryable=retryable)

    async def found() -> list[str]:
        hits = await scan_log(counting, "zebra", limit=5, only=ANY, latest=None)  # pyright: ignore[reportArgumentType] - the half of a log that is needed
        return [hit.run_id for hit in hits.hits]

    if retryable:
        with pytest.raises(StorageError, match="entry 2"):
            await found()
    else:
        assert await found() == [run.run_id]
