"""Following a run in a store that cannot tell of new entries by itself."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import anyio

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.entry_json import apply_entry

LOOK_AGAIN = 0.2
"""Seconds between two looks."""

Reading = Callable[[int], Awaitable[Sequence[Entry]]]
"""The entries of a run beyond the first so many."""


async def follow_by_looking(
    run_id: str, read: Reading, *, after: int
) -> AsyncGenerator[tuple[Entry, Run]]:
    """Every entry of a run, found by looking again and again; see `ThoughtStore.follow`."""
    run: Run | None = None
    while True:
        for entry in await read(run.version if run else 0):
            run = apply_entry(run_id, run, entry)
            if run.version > after:
                yield entry, run
        if run is not None and run.finished:
            return
        await anyio.sleep(LOOK_AGAIN)
