"""One of several processes that open a file at the same moment and count its runs."""

import sys

import anyio

from sifaka.storage.sqlite import SQLiteStorage


async def count(path: str) -> None:
    store = SQLiteStorage(path)
    runs = (await store.recent(limit=1000)).runs
    await store.aclose()
    sys.stdout.write(f"{len(runs)}\n")
    sys.stdout.flush()


for line in sys.stdin:
    anyio.run(count, line.strip())
