"""One of several processes that append to one file: to a run of its own and to a shared one."""

import sys

import anyio

from sifaka.errors import VersionConflict
from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage


async def append_both(path: str, name: str, count: str) -> None:
    store = SQLiteStorage(path)
    for number in range(int(count)):
        await append(store, f"run_{name}", f"{name}:{number}")
        await append(store, "run_shared", f"{name}:{number}")
    await store.aclose()


async def append(store: ThoughtStore, run_id: str, text: str) -> None:
    while True:
        known = await begin(store, run_id)
        thought = Thought(run_id=run_id, iteration=len(known.thoughts), text=text)
        entry: Entry = Drafted(thought=thought)
        try:
            await store.append(known.apply(entry), [entry], expected_version=known.version)
        except VersionConflict:
            continue
        return


async def begin(store: ThoughtStore, run_id: str) -> Run:
    started = Started(run_id=run_id)
    run = Run.start(started)
    try:
        await store.append(run, [started], expected_version=0)
    except VersionConflict:
        return await store.load(run_id)
    return run


# Everybody starts at the same moment, on a file that nobody has made yet.
sys.stdout.write("ready\n")
sys.stdout.flush()
sys.stdin.readline()
anyio.run(append_both, sys.argv[1], sys.argv[2], sys.argv[3])
