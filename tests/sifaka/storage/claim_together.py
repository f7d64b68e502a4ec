"""One of several processes that claim one run and append to it, again and again."""

import sys
from pathlib import Path

import anyio

from sifaka.errors import AppendRefused
from sifaka.record.entries import Drafted
from sifaka.record.thought import Thought
from sifaka.storage import open_store


async def work(url: str, name: str, count: str) -> None:
    store = open_store(url, home=Path())
    for number in range(int(count)):
        while True:
            fence = await store.claim("run_1")
            run = await store.load("run_1")
            thought = Thought(run_id="run_1", iteration=len(run.thoughts), text=f"{name}:{number}")
            entry = Drafted(thought=thought)
            sys.stdout.write(f"{fence}\n")
            try:
                await store.append(
                    run.apply(entry), [entry], expected_version=run.version, fence=fence
                )
            except AppendRefused:
                continue
            break


# All processes start at the same moment.
sys.stdout.write("ready\n")
sys.stdout.flush()
sys.stdin.readline()
anyio.run(work, sys.argv[1], sys.argv[2], sys.argv[3])
