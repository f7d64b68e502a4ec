"""Appends, claims and deletions of a composed store: the log decides, the outbox waits for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

import anyio

from sifaka.errors import AppendRefused, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.delivery import Delivery
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.memory import RunCache
from sifaka.storage.outbox import Outbox
from sifaka.storage.outbox_tables import Waiting
from sifaka.storage.parts import Layout
from sifaka.storage.store import TenantView, erase_each
from sifaka.storage.transfer import push

logger = logging.getLogger(__name__)
_HELPING_SECONDS = 0.25
_ERASING_SECONDS = 60.0
_MOST_WAITING = 1_000_000
_LONG_QUEUE = 200
"""Runs that may wait for a replica before appends help to deliver them."""


class StoreWriter(TenantView):
    """Writes a tenant's runs to the log, or to the outbox while the log is down."""

    _layout: Layout
    _cache: RunCache
    _outbox: Outbox
    _delivery: Delivery
    _created: set[tuple[str, str]]
    """Runs that this process began while the log was down."""
    _owed: set[tuple[str, str]]
    """Runs that replicas lack and that the outbox could not note."""

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Append to the log, or to the outbox while it is down; see `RunLog.append`.

        Raises:
            VersionConflict: Also when the log refused entries that had waited for it, and the run
                was not loaded again since; `refused` has them.
            StorageError: The log failed, and the outbox too or there is none.
        """
        kept = tuple(entries)
        with anyio.CancelScope(shield=True):
            await self._append(run, kept, expected_version, fence)

    async def claim(self, run_id: str) -> int:
        """Take a run over, in the log; see `RunLog.claim`.

        Returns:
            The number; 0 for a run that this process has created while the log was down.

        Raises:
            StorageError: Also while entries of the run wait for the log.
        """
        log, waiting = self._layout.log, await self._delivery.waiting(self.tenant, run_id)
        if waiting:
            # Once the log has it, other processes may have claimed it.
            if (self.tenant, run_id) in self._created and waiting[0].expected_version == 0:
                return 0
            raise StorageError(
                f"entries of run {run_id!r} wait until {log.name} can be reached",
                "try again when it can",
                retryable=True,
            )
        with log.attempt():
            return await self._layout.log_of(self.tenant).claim(run_id)

    async def delete(self, run_id: str) -> None:
        """Delete a run everywhere, refused entries too; parts that are down do so later."""
        layout, outbox = self._layout, self._outbox
        with anyio.CancelScope(shield=True):
            await outbox.forget(self.tenant, [run_id], layout.names)
            self._cache.evict(self.tenant, run_id)
            self._created.discard((self.tenant, run_id))
            try:
                with layout.log.attempt():
                    await self._layout.log_of(self.tenant).delete(run_id)
            except StorageError:
                if not outbox.durable:
                    raise
                await outbox.put([Waiting(layout.log.name, self.tenant, run_id, "delete")])
            for replica in layout.replicas:
                if not replica.paused:
                    await self._delivery.deliver(replica, self.tenant, run_id)

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete runs everywhere, parts that are down do so later; see `Eraser`.

        Runs of which entries wait for the log stay.
        """
        layout, outbox, log = self._layout, self._outbox, self._layout.log
        if not lines:
            await self._erase_traces()
            return frozenset()
        gone = frozenset[str]()
        with anyio.CancelScope(shield=True):
            waiting = frozenset(await outbox.runs(log.name, _MOST_WAITING))
            free = [line for line in lines if (self.tenant, line.run_id) not in waiting]
            stayed = frozenset(line.run_id for line in free)
            # Noted before, so that it is known when the process dies right after the log's answer.
            await outbox.put(
                [
                    Waiting(name, self.tenant, run_id, "delete")
                    for run_id in stayed
                    for name in layout.names
                ]
            )
            try:
                with log.attempt():
                    stayed = await erase_each(layout.log_of(self.tenant), free)
            finally:
                for run_id in stayed:
                    await self._mark(run_id)
            gone = {line.run_id for line in free} - stayed
            for run_id in gone:
                self._cache.evict(self.tenant, run_id)
                self._created.discard((self.tenant, run_id))
            await outbox.forget(self.tenant, gone, layout.names)
        return frozenset(line.run_id for line in lines) - gone

    async def _erase_traces(self) -> None:
        deadline = time.monotonic() + _ERASING_SECONDS
        for replica in self._layout.replicas:
            await self._delivery.work_off(replica, deadline=deadline)
            await self._delivery.look_after(replica)
        for store in (self._layout.log_of(self.tenant), *(c.inner for c in self._layout.copies)):
            await erase_each(store, ())

    async def mark_owed(self) -> None:
        """Note the runs that replicas lack and that the outbox could not note before."""
        for tenant, run_id in list(self._owed):
            await self._outbox.mark(self._layout.names, tenant, run_id)
            self._owed.discard((tenant, run_id))

    async def _append(
        self, run: Run, entries: tuple[Entry, ...], expected_version: int, fence: int | None
    ) -> None:
        tenant, run_id, log = self.tenant, run.run_id, self._layout.log
        waiting = await self._ahead(run, entries, expected_version)
        if entries:
            # Noted before, so that it is known when the process dies right after the log's answer.
            await self._mark(run_id)
        failure: StorageError | None = None
        if not waiting:
            try:
                await self._decide(run, entries, expected_version, fence)
            except AppendRefused:
                raise
            except StorageError as error:
                # What does not pass by itself, such as a wrong password, is no time to begin a run.
                cured = error.retryable or expected_version
                if not self._outbox.durable or not entries or not cured:
                    raise
                failure = error
            else:
                self._created.discard((tenant, run_id))
                if entries:
                    self._cache.keep(tenant, run, entries, after=expected_version)
                    await self._mark(run_id)
                await self._help()
                return
        if not entries:
            return
        payloads = encode_entries(run, entries, expected_version)
        row = Waiting(log.name, tenant, run_id, "append", expected_version, fence, payloads)
        try:
            await self._outbox.put_append(row)
        except VersionConflict:
            raise
        except StorageError as error:
            raise failure or error from error
        if expected_version == 0:
            self._created.add((tenant, run_id))
        await self._mark(run_id)

    async def _decide(
        self, run: Run, entries: Sequence[Entry], expected_version: int, fence: int | None
    ) -> None:
        """Have the log decide about an append."""
        with self._layout.log.attempt():
            view = self._layout.log_of(self.tenant)
            try:
                await view.append(run, entries, expected_version=expected_version, fence=fence)
            except VersionConflict as conflict:
                # A server that broke down may have forgotten what it had acknowledged last. A run
                # of which it has nothing at all may as well have been deleted, and stays so.
                if not 0 < conflict.found < expected_version:
                    raise
                known = self._cache.get(self.tenant, run.run_id)
                if known is None or known.after or known.run.version != expected_version:
                    raise
                await push(view, run.run_id, 0, (*known.entries, *entries), fence=fence)
                logger.warning("entries of run %r were lost, and stored again", run.run_id)

    async def _ahead(self, run: Run, entries: Sequence[Entry], expected_version: int) -> bool:
        """True when a change waits for the log ahead of an append, after an attempt to deliver."""
        log, outbox = self._layout.log, self._outbox
        try:
            waiting, refused = await outbox.look(log.name, self.tenant, run.run_id)
            if waiting and not log.paused:
                await self._delivery.deliver(log, self.tenant, run.run_id)
                waiting, refused = await outbox.look(log.name, self.tenant, run.run_id)
        except StorageError:
            # Entries that wait make the log refuse these: they cannot get ahead of them.
            return False
        if refused:
            await self._check_descent(run, entries, expected_version)
        return waiting

    async def _check_descent(
        self, run: Run, entries: Sequence[Entry], expected_version: int
    ) -> None:
        # The writer of what was refused may have as many entries as the log, but other ones.
        try:
            with self._layout.log.attempt():
                held = await self._layout.log_of(self.tenant).load(run.run_id)
        except ThoughtNotFound:
            return
        if held.version != expected_version:
            return  # then the log itself compares
        try:
            for entry in entries:
                held = held.apply(entry)
        except (KeyError, ValueError):
            held = None
        if held != run:
            raise VersionConflict(run.run_id, expected=expected_version, found=expected_version)

    async def _mark(self, run_id: str) -> None:
        try:
            await self._outbox.mark(self._layout.names, self.tenant, run_id)
        except StorageError as failure:
            # The log decides about an append, never what comes after it.
            logger.warning("the index or a copy gets run %r late: %s", run_id, failure)
            self._owed.add((self.tenant, run_id))

    async def _help(self) -> None:
        for replica in self._layout.replicas:
            waiting = self._outbox.known.waiting.get(replica.name, 0)
            if waiting > _LONG_QUEUE and not replica.paused:
                try:
                    deadline = time.monotonic() + _HELPING_SECONDS
                    await self._delivery.work_off(replica, deadline=deadline)
                except StorageError as failure:
                    logger.warning("the queue cannot be worked off: %s", failure)
