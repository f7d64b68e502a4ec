"""Leases, by which other processes see that a run is worked on here, and the guard of each run."""

import logging
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anyio

from sifaka.calls.failure_log import report_failure
from sifaka.chain import is_interrupted
from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Stopped
from sifaka.storage.files.durable import LockFile
from sifaka.storage.files.folder import file_name
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.runs.work import Job, RunKey

if TYPE_CHECKING:
    from sifaka_mcp.runs.queue import RunQueue

logger = logging.getLogger(__name__)

_UNGUARDED_SECONDS = 0.5
"""Seconds before other processes are told of a run; most runs are done by then."""
_SILENT_SECONDS = 4.0
"""Seconds without an event after which a run is watched for a cancellation elsewhere. One that
always moves needs no second reader: its next entry is refused."""
_PAUSE = 1.0
"""Seconds after which a store that has failed, or a run that was over, is looked at again."""


class FileLeases:
    """Leases as locked files, which the processes of one machine see.

    The system unlocks the files of a process that ends. No method raises an error of the place
    where leases are kept: a run goes on without one.

    Args:
        folder: Where the files are; it is made with the first one.
    """

    renewal: float | None = None
    """Seconds after which a lease is taken again; None when it lasts as long as its process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[RunKey, LockFile] = {}

    async def take(self, key: RunKey) -> None:
        """Take a lease, or take it again; without rights to the folder there is none."""
        await self.claim(key)

    async def claim(self, key: RunKey) -> bool:
        """Take a lease that no process holds; False when one does, or has been faster.

        Without rights to the folder any process may go on.
        """
        try:
            if key in self._locks or (lock := self._lock(key)) is None:
                return False
        except OSError:
            return True
        self._locks[key] = lock
        return True

    async def let_go(self, key: RunKey) -> None:
        """Give a lease up."""
        if (lock := self._locks.pop(key, None)) is not None:
            lock.release()

    async def held(self, key: RunKey) -> bool | None:
        """True when a process works on a run; None when that cannot be found out now."""
        if key in self._locks:
            return True
        with suppress(OSError):
            if not self._path(key).exists():
                return False
            if (lock := self._lock(key)) is None:
                return True
            lock.release()
        return False

    def _lock(self, key: RunKey) -> LockFile | None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return LockFile.take(self._path(key))

    def _path(self, key: RunKey) -> Path:
        return self._folder / f"{file_name(f'{key.tenant}/{key.run_id}')}.lock"


Leases: TypeAlias = "FileLeases | RunQueue"
"""Leases on the runs that a process works on, each for as long as the process lives."""


async def guard(job: Job, leases: "Leases | None") -> None:
    """Guard the work on a run until `Job.guarding` is cancelled, once it has proved to be long.

    It holds a lease on the run, and stops one that was cancelled elsewhere.

    Args:
        job: The work.
        leases: Shown to other processes; None where they see the run without one.
    """
    try:
        with job.guarding:
            with anyio.move_on_after(_UNGUARDED_SECONDS):
                await job.request_gone.wait()
            async with anyio.create_task_group() as group:
                group.start_soon(_hold, job, leases)
                group.start_soon(_watch, job)
    # The run itself is all right.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, "watch", error, run_id=job.run.run_id)


async def _hold(job: Job, leases: "Leases | None") -> None:
    while leases is not None:
        await leases.take(job.key)
        job.leased.set()
        if leases.renewal is None:
            return
        await anyio.sleep(leases.renewal)
    job.leased.set()


async def _watch(job: Job) -> None:
    """Cancel the work on a run that has been stopped elsewhere, from its first silence on."""
    while (rest := job.last_event_at + _SILENT_SECONDS - anyio.current_time()) > 0:  # noqa: ASYNC110
        await anyio.sleep(rest)  # not an event: time is what is waited for
    await _stopped_elsewhere(job.store, job.run.run_id, after=job.run.version)
    job.on_purpose = True
    job.scope.cancel()


async def _stopped_elsewhere(store: ThoughtStore, run_id: str, *, after: int) -> None:
    """Return when a run has been cancelled or forgotten elsewhere.

    An interrupted process has not cancelled the run, but left it to the next one.
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
