"""Watches for a run of this process being cancelled or forgotten elsewhere."""

from contextlib import aclosing

import anyio

from sifaka.chain import is_interrupted
from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Stopped
from sifaka.storage.protocol import ThoughtStore

_PAUSE = 1.0
"""Seconds after which a store that has failed, or a run that was over, is looked at again."""


async def stopped_elsewhere(store: ThoughtStore, run_id: str, *, after: int) -> None:
    """Return when a run has been cancelled or forgotten elsewhere.

    An interrupted process has not cancelled the run, but left it to the next one.

    Args:
        store: Where the run is.
        run_id: The run.
        after: How many entries it had when the work began.
    """
    while True:
        try:
            async with aclosing(store.follow(run_id, after=after)) as steps:
                async for entry, run in steps:
                    after = run.version
                    stopped = isinstance(entry, Stopped) and entry.status == "cancelled"
                    if stopped and not is_interrupted(run):
                        return
        except ThoughtNotFound:
            return
        except StorageError:
            pass  # the run goes on without its store, and so does this
        # An interrupted run is over in the store until the work on it has brought something.
        await anyio.sleep(_PAUSE)
