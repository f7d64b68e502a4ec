"""Following a run through an outage of the authority."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.entry_json import apply_entry
from sifaka.storage.follow import LOOK_AGAIN
from sifaka.storage.tiers.layout import Layout
from sifaka.storage.tiers.read import Reading


async def follow_tiers(
    layout: Layout, reading: Reading, tenant: str, run_id: str, *, after: int
) -> AsyncGenerator[tuple[Entry, Run]]:
    """The authority's entries as they come; while it is down, those that are queued for it."""
    authority, known = layout.authority, after
    run: Run | None = None
    while True:
        rows = await reading.waiting(tenant, run_id)
        try:
            if not rows:
                # No attempt: whether it works now does not follow from what lasts for hours.
                authority.check()
                async with aclosing(authority.of(tenant).follow(run_id, after=known)) as steps:
                    async for entry, run in steps:
                        yield entry, run
                        known = run.version
                return
        except ThoughtNotFound:
            archive = await reading.archive(tenant, run_id)
            if archive is None or known > after:
                raise
            async with aclosing(archive.follow(run_id, after=known)) as steps:
                async for step in steps:
                    yield step
            return
        except StorageError as failure:
            if not failure.retryable and not rows:
                raise
            if run is None:
                # Whether there is such a run at all, and how far it has come.
                run = await reading.load(tenant, run_id)
        for row in rows:
            for number, entry in enumerate(row.entries(), row.expected_version + 1):
                if number > known:
                    run = await _at(reading, tenant, run_id, run, entry, number)
                    yield entry, run
                    known = number
        if run is not None and run.finished and run.version <= known:
            return
        await anyio.sleep(LOOK_AGAIN)  # at the queue


async def _at(
    reading: Reading, tenant: str, run_id: str, run: Run | None, entry: Entry, number: int
) -> Run:
    if number == (run.version + 1 if run else 1):
        return apply_entry(run_id, run, entry)
    loaded = await reading.load(tenant, run_id)
    if loaded.version < number:
        raise ThoughtNotFound(run_id)
    return loaded
