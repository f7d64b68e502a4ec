"""Brings back what a server has lost of the runs that this process has appended to.

A server that breaks down between two saves, that is replaced by a replica which lagged behind, or
that is restored from a backup, has fewer entries of a run than it had acknowledged. No rival makes
a run shorter: a version below the expected one is a loss, not another writer.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from sifaka.errors import AppendRefused, StorageError
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.log import RunLog, load_if_there
from sifaka.storage.memory import RunCache
from sifaka.storage.transfer import push

logger = logging.getLogger(__name__)

_RECENT = 600.0
"""Seconds since its last entry in which a run that is not there at all is taken for lost. Beyond
that it is more likely that another process has deleted it."""


class Recollection:
    """The entries that this process has appended, and the server that has acknowledged them.

    Args:
        server: Asks which server process it is: another one after a restart or a failover.
        view: The log as a tenant sees it, without this.
    """

    def __init__(self, server: Callable[[], Awaitable[str]], view: Callable[[str], RunLog]) -> None:
        self._ask = server
        self._view = view
        self._server: str | None = None
        self._known = RunCache()
        self._kept: dict[tuple[str, str], float] = {}

    async def keep(self, tenant: str, run: Run, entries: Sequence[Entry], *, after: int) -> None:
        """Note an append that the server has acknowledged."""
        if self._server is None:
            self._server = await self._identity()
        self._known.keep(tenant, run, entries, after=after)
        self._kept[tenant, run.run_id] = time.monotonic()

    def forget(self, tenant: str, run_id: str) -> None:
        """Drop a run that is deleted."""
        self._known.evict(tenant, run_id)
        self._kept.pop((tenant, run_id), None)

    async def bring_back(
        self, tenant: str, run_id: str, version: int, *, fence: int | None = None
    ) -> bool:
        """Append again what the server has lost of a run.

        A run that is not there at all stays so unless the server was restarted or replaced: on the
        same one it was deleted.

        Args:
            tenant: Whose run it is.
            run_id: The run.
            version: How many entries the server should have.
            fence: As in `RunLog.append`.

        Returns:
            Whether it has them now.

        Raises:
            StorageError: The server failed.
        """
        state, view = self._known.get(tenant, run_id), self._view(tenant)
        held = await load_if_there(view, run_id)
        found = 0 if held is None else held.version
        if found >= version or state is None or found >= state.run.version:
            return found >= version
        if not found and not await self._was_lost(tenant, run_id):
            return False
        last = state.run.version
        if found < state.after:
            what = "this process, which has not written entries %d to %d of run %r, cannot bring "
            logger.warning(what + "back what the server has lost", found + 1, state.after, run_id)
            return False
        try:
            await push(view, run_id, state.after, state.entries, fence=fence)
        except AppendRefused:
            return False  # another process has gone on from what was left
        what = "the server had lost entries %d to %d of run %r; they are stored again"
        logger.warning(what, found + 1, last, run_id)
        return last >= version

    async def look(self) -> None:
        """Bring back what a server that was restarted or replaced has lost, finished runs too.

        Raises:
            StorageError: The server failed.
        """
        if self._server is None or (now := await self._identity()) in {self._server, ""}:
            return
        for tenant, run_id in list(self._kept):
            if (state := self._known.get(tenant, run_id)) is not None:
                await self.bring_back(tenant, run_id, state.run.version)
        self._server = now
        self._kept = {key: at for key, at in self._kept.items() if self._known.get(*key)}

    async def _was_lost(self, tenant: str, run_id: str) -> bool:
        recent = time.monotonic() - self._kept.get((tenant, run_id), 0.0) < _RECENT
        return recent and await self._identity() not in {self._server, ""}

    async def _identity(self) -> str:
        """The server process; empty where the server does not tell it."""
        try:
            return await self._ask()
        except StorageError:
            return ""
