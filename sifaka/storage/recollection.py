"""Brings back what a log has lost of the runs that this process has appended to.

A server that breaks down between two saves or is replaced by a replica which lagged behind, and a
log that is restored from a backup, have fewer entries of a run than they had acknowledged. No rival
makes a run shorter: a version below the expected one is a loss, not another writer.
"""

import logging
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from sifaka.errors import AppendRefused, StorageError, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.log import load_if_there
from sifaka.storage.memory import RunCache, State
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.store import LogStore
from sifaka.storage.transfer import push

logger = logging.getLogger(__name__)

RUNS = 100
"""Runs whose entries are kept, the latest: those at work, and more than are lost in a second."""
_RECENT = 600.0
"""Seconds since its last entry in which a run that is not there at all is taken for lost. Beyond
that it is more likely that another process has deleted it."""


class Recollection:
    """The entries that this process has appended, and the log that has acknowledged them.

    Args:
        identity: Asks which log it is: another one after a restart, a failover, or when a file or
            a folder was put in its place.
        view: The log as a tenant sees it, without this.
    """

    def __init__(
        self, identity: Callable[[], Awaitable[str]], view: Callable[[str], ThoughtStore]
    ) -> None:
        self._ask = identity
        self._view = view
        self._log: str | None = None
        self._known = RunCache(RUNS)

    async def keep(self, tenant: str, run: Run, entries: Sequence[Entry], *, after: int) -> None:
        """Note an append that the log has acknowledged."""
        if self._log is None:
            self._log = await self._identity()
        self._known.keep(tenant, run, entries, after=after)

    def forget(self, tenant: str, run_ids: Iterable[str]) -> None:
        """Drop runs that are deleted."""
        for run_id in run_ids:
            self._known.evict(tenant, run_id)

    async def bring_back(
        self, tenant: str, run_id: str, version: int, *, fence: int | None = None
    ) -> bool:
        """Append again what the log has lost of a run.

        A run that is not there at all stays so unless the log was restarted or replaced: in the
        same one it was deleted.

        Args:
            tenant: Whose run it is.
            run_id: The run.
            version: How many entries the log should have.
            fence: As in `ThoughtStore.append`.

        Returns:
            Whether it has them now.

        Raises:
            StorageError: The log failed.
        """
        state, view = self._known.get(tenant, run_id), self._view(tenant)
        held = await load_if_there(view, run_id)
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
            await push(view, run_id, state.after, state.entries, fence=fence)
        except AppendRefused:
            return False  # another process has gone on from what was left
        what = "the store had lost entries %d to %d of run %r; they are stored again"
        logger.warning(what, found + 1, last, run_id)
        return last >= version

    async def look(self) -> None:
        """Bring back what a log that was restarted or replaced has lost, finished runs too.

        Raises:
            StorageError: The log failed.
        """
        if self._log is None or (now := await self._identity()) in {self._log, ""}:
            return
        for tenant, run_id in self._known.keys():  # noqa: SIM118 - no mapping
            if (state := self._known.get(tenant, run_id)) is not None:
                await self.bring_back(tenant, run_id, state.run.version)
        self._log = now

    async def _was_lost(self, state: State) -> bool:
        recent = time.monotonic() - state.at < _RECENT
        return recent and await self._identity() not in {self._log, ""}

    async def _identity(self) -> str:
        """The log at this moment; empty where it cannot be told."""
        try:
            return await self._ask()
        except StorageError:
            return ""


def identity_of(path: Path) -> str:
    """A file or a folder, told apart from one that was put in its place; empty without one."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"


class RecollectingStore(LogStore):
    """A `LogStore` that tells a log which moved backwards from a rival, and brings it back."""

    _recollection: Recollection | None

    def _remember(self) -> None:
        """Begin to keep what is appended."""
        self._recollection = Recollection(self._identity, self._bare)

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none; see `ThoughtStore.append`."""
        kept = tuple(entries)
        known = self._recollection
        try:
            await self._append(run, kept, expected_version, fence)
        except VersionConflict as conflict:
            if (
                known is None
                or conflict.found >= expected_version
                or not await known.bring_back(
                    self.tenant, run.run_id, expected_version, fence=fence
                )
            ):
                raise
            await self._append(run, kept, expected_version, fence)
        if known is not None:
            await known.keep(self.tenant, run, kept, after=expected_version)

    async def catch_up(self) -> int:
        """Bring back what the log has lost, or try again next time; nothing else is put off."""
        if self._recollection is not None:
            with suppress(StorageError):
                await self._recollection.look()
        return 0

    def _forget(self, run_ids: Iterable[str]) -> None:
        """Drop what is known of runs that are deleted."""
        if self._recollection is not None:
            self._recollection.forget(self.tenant, run_ids)

    def _bare(self, tenant: str) -> Self:
        view = self.scoped(tenant)
        view._recollection = None  # noqa: SLF001 - its own class
        return view

    @abstractmethod
    async def _append(
        self, run: Run, entries: Sequence[Entry], expected_version: int, fence: int | None
    ) -> None:
        """As `append`, into the log as it is."""
        ...

    @abstractmethod
    async def _identity(self) -> str:
        """The log at this moment: another one after a restart or a replacement."""
        ...
