"""Brings back what a log has lost of the runs that this process has appended to.

A server that breaks down between two saves or is replaced by a replica which lagged behind, and a
log that is restored from a backup, have fewer entries of a run than they had acknowledged. No rival
makes a run shorter: a version below the expected one is a loss, not another writer.
"""

import logging
import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from sifaka.errors import AppendRefused, StorageError, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.log import load_if_there, push
from sifaka.storage.memory import RunCache, State
from sifaka.storage.store import LogStore

logger = logging.getLogger(__name__)

RUNS = 100
"""Runs whose entries are kept, the latest: those at work, and more than are lost in a second."""
_RECENT = 600.0
"""Seconds since its last entry in which a run that is not there at all is taken for lost. Beyond
that it is more likely that another process has deleted it."""


def identity_of(path: Path) -> str:
    """A file or a folder, told apart from one that was put in its place; empty without one."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"


class RepairingStore(LogStore):
    """A `LogStore` that tells a log which moved backwards from a rival, and brings it back.

    Args:
        tenant: The tenant whose runs are seen.
    """

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        self._acknowledged = RunCache(RUNS)
        """The entries that the log has acknowledged to this process, of all tenants."""

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `ThoughtStore.append`."""
        kept = tuple(entries)
        try:
            await self._append(run, kept, expected_version=expected_version, fence=fence)
        except VersionConflict as conflict:
            if conflict.found >= expected_version or not await self._bring_back(
                run.run_id, expected_version, fence=fence
            ):
                raise
            await self._append(run, kept, expected_version=expected_version, fence=fence)
        known = self._acknowledged
        if not known.source:
            known.source = await self._identity_now()
        known.keep(self.tenant, run, kept, after=expected_version)

    async def catch_up(self) -> int:
        """Bring back what a log that was restarted or replaced has lost, of all tenants.

        Where that fails it is tried again next time; nothing else is put off.
        """
        known = self._acknowledged
        if known.source and (now := await self._identity_now()) not in {known.source, ""}:
            with suppress(StorageError):
                for tenant, state in known.items():
                    await self.scoped(tenant)._bring_back(state.run.run_id, state.run.version)  # noqa: SLF001 - its own class
                known.source = now
        return 0

    def _forget(self, run_ids: Iterable[str]) -> None:
        """Drop what is known of runs that are deleted."""
        for run_id in run_ids:
            self._acknowledged.evict(self.tenant, run_id)

    async def _bring_back(self, run_id: str, version: int, *, fence: int | None = None) -> bool:
        """Append again what the log has lost of a run; whether it has so many entries now.

        A run that is not there at all stays so unless the log was restarted or replaced: in the
        same one it was deleted.

        Raises:
            StorageError: The log failed.
        """
        state = self._acknowledged.get(self.tenant, run_id)
        held = await load_if_there(self, run_id)
        found = 0 if held is None else held.version
        if found >= version or state is None or found >= state.run.version:
            return found >= version
        if not found and not await self._was_lost(state):
            return False
        last = state.run.version
        if found < state.after:
            what = "this process, which has not written entries %d to %d of run %r, cannot bring "
            logger.warning(what + "back what the store has lost", found + 1, state.after, run_id)
            return False
        try:
            await push(self, run_id, state.after, state.entries, fence=fence, append=self._append)
        except AppendRefused:
            return False  # another process has gone on from what was left
        what = "the store had lost entries %d to %d of run %r; they are stored again"
        logger.warning(what, found + 1, last, run_id)
        return last >= version

    async def _was_lost(self, state: State) -> bool:
        recent = time.monotonic() - state.at < _RECENT
        return recent and await self._identity_now() not in {self._acknowledged.source, ""}

    async def _identity_now(self) -> str:
        with suppress(StorageError):
            return await self._identity()
        return ""

    @abstractmethod
    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        """As `append`, into the log as it is."""
        ...

    @abstractmethod
    async def _identity(self) -> str:
        """The log at this moment: another one after a restart or a replacement."""
        ...
