"""A process that appends to a run, two entries at a time, and says so, until it is killed."""

import sys
from pathlib import Path

import anyio

from sifaka.record.entries import Decided, Decision, Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage import open_store


async def append_forever(url: str, run_id: str) -> None:
    store = open_store(url, home=Path())
    started = Started(run_id=run_id)
    run = Run.start(started)
    await store.append(run, [started], expected_version=0)
    while True:
        text = f"text {run.version} " * 400
        thought = Thought(run_id=run_id, iteration=len(run.thoughts), text=text)
        drafted = Drafted(thought=thought)
        decided = Decided(thought_id=thought.id, decision=Decision(accepted=True, note="new"))
        after = run.apply(drafted).apply(decided)
        await store.append(after, [drafted, decided], expected_version=run.version)
        run = after
        sys.stdout.write(f"{run.version}\n")
        sys.stdout.flush()


anyio.run(append_forever, sys.argv[1], sys.argv[2])
