"""Stopping a run from anywhere: by an entry that its worker comes upon."""

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from sifaka.errors import VersionConflict
from sifaka.record.entries import INTERRUPTED, Entry, Stopped
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

if TYPE_CHECKING:
    from sifaka.chain.result import RunResult

CancelEntry = Callable[[], Stopped | None]
"""The entry to record when work is cancelled; None leaves the run as it is."""


def cancellation() -> Stopped:
    """The entry for a run that was stopped on purpose."""
    return Stopped(status="cancelled", stop_reason="cancelled")


def interruption() -> Stopped:
    """The entry for a run that stopped only because its process was told to end."""
    return Stopped(
        status="cancelled",
        stop_reason="cancelled",
        error="the process ended before the run was done; it can be resumed",
        code=INTERRUPTED,
    )


def is_interrupted(run: Run) -> bool:
    """True when a run has stopped only because its process was told to end."""
    return run.status == "cancelled" and run.error_code == INTERRUPTED


async def cancel_run(store: ThoughtStore, run_id: str) -> "RunResult":
    """Stop a run, wherever it is worked on, and keep its best version.

    Cancelling a run that is finished changes nothing; one that was interrupted is gone on with no
    more.

    Raises:
        ThoughtNotFound: There is no such run.
    """
    # A server knows how to stop a run before it knows how to answer with one.
    from sifaka.chain.result import RunResult

    while True:
        run = await store.load(run_id)
        if not run.finished or is_interrupted(run):
            try:
                run = await append_outside(store, run, cancellation())
            except VersionConflict:
                continue  # a phase was stored in between
        return RunResult(run=run, warnings=store.degraded)


async def append_outside(store: ThoughtStore, run: Run, *entries: Entry) -> Run:
    """Append entries to a run from outside its work, and return the run after them.

    Raises:
        VersionConflict: Something else has happened to it meanwhile.
    """
    after = reduce(Run.apply, entries, run)
    await store.append(after, entries, expected_version=run.version)
    return after
