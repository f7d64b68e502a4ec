"""One of several processes that append to one store: to a run of its own and to a shared one."""

import sys
from pathlib import Path

import anyio

from sifaka.errors import VersionConflict
from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage import ThoughtStore, open_store


async def append_both(url: str, name: str, count: str) -> None:
    store = open_store(url, home=Path())
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


# All processes start at the same moment, in a place that is not there yet.
sys.stdout.write("ready\n")
sys.stdout.flush()
sys.stdin.readline()
anyio.run(append_both, sys.argv[1], sys.argv[2], sys.argv[3])
