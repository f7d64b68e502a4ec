"""Stopping a run from anywhere: by an entry that whoever works on it will run into."""

from collections.abc import Callable

from sifaka.chain.result import RunResult
from sifaka.errors import VersionConflict
from sifaka.record.entries import INTERRUPTED, Stopped
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore

Parting = Callable[[], Stopped | None]
"""What is put on record of work that is cancelled; None leaves the run as it is."""


def cancellation() -> Stopped:
    """The entry for a run that somebody has stopped."""
    return Stopped(status="cancelled", stop_reason="cancelled")


def interruption() -> Stopped:
    """The entry for a run that nobody has stopped, but whose process was told to end."""
    return Stopped(
        status="cancelled",
        stop_reason="cancelled",
        error="the process ended before the run was done; resume_run goes on with it",
        code=INTERRUPTED,
    )


def is_interrupted(run: Run) -> bool:
    """Whether a run has stopped only because its process was told to end."""
    return run.status == "cancelled" and run.error_code == INTERRUPTED


async def cancel_run(store: ThoughtStore, run_id: str) -> RunResult:
    """Stop a run, wherever it is worked on, and keep its best version.

    Cancelling a run that is finished changes nothing; one that was interrupted is gone on with no
    more.

    Raises:
        ThoughtNotFound: There is no such run.
    """
    while True:
        run = await store.load(run_id)
        if run.finished and not is_interrupted(run):
            return RunResult(run=run, warnings=store.degraded)
        try:
            after = await stop_run(store, run, cancellation())
        except VersionConflict:
            continue  # a phase was stored in between
        return RunResult(run=after, warnings=store.degraded)


async def stop_run(store: ThoughtStore, run: Run, entry: Stopped) -> Run:
    """The run after an entry of somebody who does not work on it.

    Raises:
        VersionConflict: Something else has happened to it meanwhile.
    """
    after = run.apply(entry)
    await store.append(after, [entry], expected_version=run.version)
    return after
