"""A process that appends to a run and says so after each append, until somebody kills it."""

import sys

import anyio

from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.sqlite import SQLiteStorage


async def append_forever(path: str, run_id: str) -> None:
    store = SQLiteStorage(path)
    started = Started(run_id=run_id)
    run = Run.start(started)
    await store.append(run, [started], expected_version=0)
    while True:
        text = f"text {run.version} " * 400
        entry = Drafted(thought=Thought(run_id=run_id, iteration=run.version - 1, text=text))
        after = run.apply(entry)
        await store.append(after, [entry], expected_version=run.version)
        run = after
        sys.stdout.write(f"{run.version}\n")
        sys.stdout.flush()


anyio.run(append_forever, sys.argv[1], sys.argv[2])
