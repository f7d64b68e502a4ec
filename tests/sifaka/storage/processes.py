"""Programs that tests of stores start: `python -m tests.sifaka.storage.processes NAME ...`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from sifaka.errors import AppendRefused
from sifaka.record.entries import Decided, Decision, Entry
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage, SQLiteStorage, open_store
from sifaka.storage.cached import CachedStorage
from tests.sifaka.storage.cached import layered
from tests.stubs.runs import draft, drafted, keep
from tests.stubs.stores import PassingStore

ROOT = Path(__file__).parents[3]


def start(name: str, *arguments: object) -> subprocess.Popen[str]:
    """One of the programs below."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.sifaka.storage.processes", name, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def wait_for_the_others() -> None:
    """All processes start at the same moment."""
    say("ready")
    sys.stdin.readline()


async def claim_together(url: str, name: str, count: str) -> None:
    """Claim a run and append to it, again and again, and say each claim."""
    wait_for_the_others()
    store = open_store(url, home=Path())
    for number in range(int(count)):
        while True:
            fence = await store.claim("run_1")
            run = await store.load("run_1")
            say(fence)
            try:
                await draft(store, run, f"{name}:{number}", fence=fence)
            except AppendRefused:
                continue
            break


async def append_until_killed(url: str, run_id: str) -> None:
    """Append to a run, two entries at a time, and say so."""
    store = open_store(url, home=Path())
    run = await keep(store, run_id=run_id)
    while True:
        entry = drafted(run, f"text {run.version} " * 400)
        decision = Decision(accepted=True, note="new")
        decided = Decided(thought_id=entry.thought.id, decision=decision)
        after = run.apply(entry).apply(decided)
        await store.append(after, [entry, decided], expected_version=run.version)
        run = after
        say(run.version)


async def count_runs() -> None:
    """Open each file that is named, and say how many runs it has."""
    for line in sys.stdin:
        store = SQLiteStorage(line.strip())
        runs = (await store.recent(limit=1000)).runs
        await store.aclose()
        say(len(runs))


class Authority(PassingStore):
    """Kills the process right after it has made the last of the 15 entries durable."""

    kept = 0

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        await super().append(run, entries, expected_version=expected_version, fence=fence)
        Authority.kept += len(entries)
        if Authority.kept == 15:
            os.kill(os.getpid(), signal.SIGKILL)


async def append_and_die(folder: str, when: str) -> None:
    """Append three runs to tiers, say their ids, and die at one of two moments."""
    truth = SQLiteStorage(Path(folder) / "runs.db")
    parts = (
        MemoryStorage(),
        truth if when == "queued" else Authority(truth),
        layered.SearchIndexInMemory(),
    )
    store = CachedStorage(*parts, queue=Path(folder) / "queue.db")
    runs = [await layered.begin(store) for _ in range(3)]
    say(json.dumps([run.run_id for run in runs]))
    for number in range(4):
        runs = [await layered.draft(store, run, f"text {number}") for run in runs]
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    anyio.run(globals()[sys.argv[1]], *sys.argv[2:])
