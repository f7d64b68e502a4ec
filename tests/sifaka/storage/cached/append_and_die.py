"""Appends three runs to tiers and kills itself at one of two moments; prints the runs' ids."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory, begin, draft
from tests.stubs.stores import PassingStore

LAST = 15
"""The number of entries of the three runs."""


class Authority(PassingStore):
    """Kills the process right after it has made the last entry durable."""

    kept = 0

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        await super().append(run, entries, expected_version=expected_version, fence=fence)
        Authority.kept += len(entries)
        if Authority.kept == LAST:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(folder: Path, when: str) -> None:
    truth = SQLiteStorage(folder / "runs.db")
    authority = truth if when == "queued" else Authority(truth)
    parts = (MemoryStorage(), authority, SearchIndexInMemory())
    store = CachedStorage(*parts, queue=folder / "queue.db")
    runs = [await begin(store) for _ in range(3)]
    sys.stdout.write(json.dumps([run.run_id for run in runs]))
    sys.stdout.flush()
    for number in range(4):
        runs = [await draft(store, run, f"text {number}") for run in runs]
    os.kill(os.getpid(), signal.SIGKILL)


anyio.run(main, Path(sys.argv[1]), sys.argv[2])
