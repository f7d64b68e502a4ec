"""Appending, claiming and deleting: what changes a run, decided by the authority."""

import logging
import time
from collections.abc import Sequence

from sifaka.errors import AppendRefused, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.tiers.backlog import Waiting
from sifaka.storage.tiers.cache import Caches
from sifaka.storage.tiers.delivery import Delivery
from sifaka.storage.tiers.layout import Layout
from sifaka.storage.tiers.outbox import Outbox
from sifaka.storage.tiers.transfer import push

logger = logging.getLogger(__name__)
_LONG_QUEUE = 200
"""How much may wait for a copy before appends help to deliver it."""
_HELPING_SECONDS = 0.25


class Appending:
    """Writes to the authority and queues what the other tiers need."""

    def __init__(self, layout: Layout, caches: Caches, outbox: Outbox, delivery: Delivery) -> None:
        self._layout = layout
        self._caches = caches
        self._outbox = outbox
        self._delivery = delivery
        self._created: set[tuple[str, str]] = set()
        """Runs that this process began while the authority was down."""
        self._owed: set[tuple[str, str]] = set()
        """Runs of which the copies lack something that could not be queued."""

    async def append(
        self,
        tenant: str,
        run: Run,
        entries: tuple[Entry, ...],
        expected_version: int,
        fence: int | None,
    ) -> None:
        """See `CachedStorage.append`."""
        payloads = encode_entries(run, entries, expected_version)
        authority, run_id = self._layout.authority, run.run_id
        waiting = await self._ahead(tenant, run, entries, expected_version)
        # Queued before, so that a process which dies right after the authority's answer leaves
        # the copies something to go by.
        intents = await self._put(tenant, run_id, self._delivery.copies_of(tenant, run_id))
        failure: StorageError | None = None
        try:
            if not waiting:
                await self._decide(tenant, run, entries, expected_version, fence)
        except AppendRefused:
            await self._put(tenant, run_id, (), instead_of=intents)
            raise
        except StorageError as error:
            # What does not pass by itself, such as a wrong password, is no time to begin a run.
            cured = error.retryable or expected_version
            if not self._outbox.durable or not entries or not cured:
                await self._put(tenant, run_id, (), instead_of=intents)
                raise
            failure = error
        copies = [
            Waiting(tier.name, tenant, run_id, "append", expected_version, None, payloads)
            for tier in self._layout.copies
            if entries
        ]
        if failure is None and not waiting:
            self._created.discard((tenant, run_id))
            await self._caches.keep(tenant, run, entries, expected_version=expected_version)
            await self._put(tenant, run_id, copies, instead_of=intents)
            await self._help()
            return
        row = Waiting(authority.name, tenant, run_id, "append", expected_version, fence, payloads)
        try:
            await self._outbox.put_first(row, copies, instead_of=intents)
        except VersionConflict:
            await self._put(tenant, run_id, (), instead_of=intents)
            raise
        except StorageError as error:
            raise failure or error from error
        if expected_version == 0:
            self._created.add((tenant, run_id))

    async def claim(self, tenant: str, run_id: str) -> int:
        """See `CachedStorage.claim`."""
        authority = self._layout.authority
        waiting: Sequence[Waiting] = ()
        try:
            await self._settle(tenant, run_id)
            waiting = await self._outbox.rows(authority.name, tenant, run_id)
        except StorageError:
            pass  # what may wait there is refused afterwards, and kept
        if waiting:
            # Once the authority has it, others may have claimed it.
            if (tenant, run_id) in self._created and waiting[0].expected_version == 0:
                return 0
            raise StorageError(
                f"entries of run {run_id!r} wait until {authority.name} can be reached",
                "try again when it can",
                retryable=True,
            )
        with authority.attempt():
            return await authority.of(tenant).claim(run_id)

    async def delete(self, tenant: str, run_id: str) -> None:
        """See `CachedStorage.delete`."""
        authority = self._layout.authority
        await self._outbox.forget(tenant, run_id, self._delivery.deletions_of(tenant, run_id))
        await self._caches.evict(tenant, run_id)
        self._created.discard((tenant, run_id))
        try:
            with authority.attempt():
                await authority.of(tenant).delete(run_id)
        except StorageError:
            if not self._outbox.durable:
                raise
            await self._outbox.put([Waiting(authority.name, tenant, run_id, "delete")])
            for tier in self._layout.copies:
                try:
                    with tier.attempt():
                        await tier.of(tenant).delete(run_id)
                except StorageError:
                    continue  # it stays in the queue
            return
        for tier in self._layout.copies:
            if not tier.paused:
                await self._delivery.deliver(tier, tenant, run_id)

    async def pay_debts(self) -> None:
        """Queue what could not be queued when it was appended."""
        for tenant, run_id in list(self._owed):
            await self._outbox.put(self._delivery.copies_of(tenant, run_id))
            self._owed.discard((tenant, run_id))

    async def _decide(
        self,
        tenant: str,
        run: Run,
        entries: Sequence[Entry],
        expected_version: int,
        fence: int | None,
    ) -> None:
        """Have the authority decide about an append."""
        authority = self._layout.authority
        with authority.attempt():
            view = authority.of(tenant)
            try:
                await view.append(run, entries, expected_version=expected_version, fence=fence)
            except VersionConflict as conflict:
                # A server that broke down may have forgotten what it had acknowledged last. A run
                # of which it has nothing at all may as well have been deleted, and stays so.
                if not 0 < conflict.found < expected_version:
                    raise
                before = await self._caches.entries(tenant, run.run_id)
                if len(before) != expected_version:
                    raise
                await push(view, run.run_id, 0, (*before, *entries), fence=fence)
                logger.warning("entries of run %r were lost, and stored again", run.run_id)

    async def _ahead(
        self, tenant: str, run: Run, entries: Sequence[Entry], expected_version: int
    ) -> bool:
        """Whether anything waits for the authority ahead of an append, after an attempt at it."""
        try:
            waiting, refused = await self._settle(tenant, run.run_id)
        except StorageError:
            # Entries that wait make the authority refuse these: they cannot get ahead of them.
            return False
        if refused:
            await self._check_descent(tenant, run, entries, expected_version)
        return waiting

    async def _settle(self, tenant: str, run_id: str) -> tuple[bool, bool]:
        """Deliver what waits for the authority about a run; `Outbox.look` afterwards."""
        authority = self._layout.authority
        waiting, refused = await self._outbox.look(authority.name, tenant, run_id)
        if waiting and not authority.paused:
            await self._delivery.deliver(authority, tenant, run_id)
            waiting, refused = await self._outbox.look(authority.name, tenant, run_id)
        return waiting, refused

    async def _check_descent(
        self, tenant: str, run: Run, entries: Sequence[Entry], expected_version: int
    ) -> None:
        # Who wrote what was refused may have as many entries as the authority, but other ones.
        authority = self._layout.authority
        try:
            with authority.attempt():
                held = await authority.of(tenant).load(run.run_id)
        except ThoughtNotFound:
            return
        if held.version != expected_version:
            return  # then the authority itself compares
        try:
            for entry in entries:
                held = held.apply(entry)
        except (KeyError, ValueError):
            held = None
        if held != run:
            raise VersionConflict(run.run_id, expected=expected_version, found=expected_version)

    async def _put(
        self, tenant: str, run_id: str, rows: Sequence[Waiting], *, instead_of: Sequence[int] = ()
    ) -> list[int]:
        try:
            return await self._outbox.put(rows, instead_of=instead_of)
        except StorageError as failure:
            # The authority decides about an append, never what comes after it.
            logger.warning("the copies of run %r will be late: %s", run_id, failure)
            self._owed.add((tenant, run_id))
            return []

    async def _help(self) -> None:
        for tier in self._layout.copies:
            if self._outbox.known.waiting.get(tier.name, 0) > _LONG_QUEUE and not tier.paused:
                try:
                    deadline = time.monotonic() + _HELPING_SECONDS
                    await self._delivery.work_off(tier, deadline=deadline)
                except StorageError as failure:
                    logger.warning("the queue cannot be worked off: %s", failure)
