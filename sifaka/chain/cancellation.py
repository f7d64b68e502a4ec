"""Stopping a run from anywhere: by an entry that whoever works on it will run into."""

from sifaka.chain.result import RunResult
from sifaka.entries import Stopped
from sifaka.errors import VersionConflict
from sifaka.storage.protocol import ThoughtStore


async def cancel_run(store: ThoughtStore, run_id: str) -> RunResult:
    """Stop a run, wherever it is worked on, and keep its best version.

    Cancelling a run that is finished changes nothing.

    Raises:
        ThoughtNotFound: There is no such run.
    """
    while True:
        run = await store.load(run_id)
        if run.finished:
            return RunResult(run=run, warnings=store.degraded)
        entry = Stopped(status="cancelled", stop_reason="cancelled")
        after = run.apply(entry)
        try:
            await store.append(after, [entry], expected_version=run.version)
        except VersionConflict:
            continue  # a phase was stored in between
        return RunResult(run=after, warnings=store.degraded)
