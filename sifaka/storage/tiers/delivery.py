"""Working the queue off: to the authority what it missed, to the copies what the authority has."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise

from sifaka.errors import AppendRefused, StorageError, VersionConflict
from sifaka.record.run import Run
from sifaka.storage.tiers.backlog import Waiting
from sifaka.storage.tiers.cache import Caches
from sifaka.storage.tiers.layout import Layout
from sifaka.storage.tiers.outbox import Outbox
from sifaka.storage.tiers.tier import Tier
from sifaka.storage.tiers.transfer import make_equal, push, read_all

_AT_ONCE = 50
"""Runs that are looked up in the queue at a time."""
_KNOWN_RUNS = 128
"""Runs of which it is remembered what a copy holds, so that it need not be read to go on."""
_PUT_ASIDE = 60.0
"""Seconds after which a run is tried again that a tier which works would not take."""

Key = tuple[str, str, str]
"""A tier's name, a tenant, a run's id."""


class Delivery:
    """Delivers what waits, in order for each tier and run, each entry once.

    Several processes may work off the same queue: stores recognise what they have already, and a
    row leaves the queue after it was delivered only.
    """

    def __init__(self, layout: Layout, caches: Caches, outbox: Outbox) -> None:
        self._layout = layout
        self._caches = caches
        self._outbox = outbox
        self._held: OrderedDict[Key, Run] = OrderedDict()
        self._aside: dict[Key, tuple[float, StorageError]] = {}
        self._closed: dict[str, str] = {}
        """Tiers that refused what is about no run, with what they said."""

    def put_aside(self, tenant: str) -> list[tuple[str, str, StorageError]]:
        """Which of a tenant's runs a tier would not take, and why: tier, run and error."""
        return [
            (tier, run_id, failure)
            for (tier, owner, run_id), (_, failure) in list(self._aside.items())
            if owner == tenant
        ]

    async def look_after(self, tier: Tier) -> int:
        """Let a tier do what it has put off; how much is left that could be done now.

        Runs that it would not take for a reason that kept it from that too are then tried again.
        """
        try:
            with tier.attempt():
                left = await tier.store.catch_up()
        except StorageError as failure:
            self._closed[tier.name] = failure.message
            return 0
        reason = self._closed.pop(tier.name, None)
        for key, (_, failure) in list(self._aside.items()):
            if key[0] == tier.name and failure.message == reason:
                del self._aside[key]
                left += 1
        return left

    async def work_off(self, tier: Tier, *, deadline: float) -> int:
        """Deliver to one tier until nothing can be done now, or the time is over.

        Args:
            tier: Which.
            deadline: As of `time.monotonic`.

        Returns:
            How much is left that could be done now.

        Raises:
            StorageError: The queue failed; that a tier fails is noted there.
        """
        if tier.delivering:
            return 0  # another task is at it
        tier.delivering = True
        try:
            tried: set[tuple[str, str]] = set()
            while not tier.paused:
                limit = _AT_ONCE + len(tried) + len(self._aside)
                runs = await self._outbox.runs(tier.name, limit)
                if len(runs) < limit:  # these are all
                    self._forget_others(tier.name, runs)
                ready = [
                    run for run in runs if run not in tried and self._is_ready(tier.name, *run)
                ]
                if not ready:
                    return 0
                for tenant, run_id in ready:
                    if time.monotonic() >= deadline:
                        return self._outbox.known.waiting.get(tier.name, 0)
                    if tier.paused:
                        return 0
                    if not await self.deliver(tier, tenant, run_id):
                        tried.add((tenant, run_id))
            return 0
        finally:
            tier.delivering = False

    async def deliver(self, tier: Tier, tenant: str, run_id: str) -> bool:
        """Deliver what waits for a tier about one run; whether nothing does any more.

        Raises:
            StorageError: The queue failed.
        """
        rows = await self._outbox.rows(tier.name, tenant, run_id)
        if not rows:
            return True
        try:
            if tier is self._layout.authority:
                await self._to_authority(rows)
            elif not await self._to_copy(tier, rows):
                return False
        except StorageError as failure:
            if not failure.retryable:
                again = time.monotonic() + _PUT_ASIDE
                self._aside[tier.name, tenant, run_id] = again, failure
            return False
        self._aside.pop((tier.name, tenant, run_id), None)
        return True

    def _forget_others(self, tier: str, waiting: Sequence[tuple[str, str]]) -> None:
        # Another process has delivered them meanwhile, or they were deleted.
        for key in [key for key in self._aside if key[0] == tier and key[1:] not in waiting]:
            del self._aside[key]

    def _is_ready(self, tier: str, tenant: str, run_id: str) -> bool:
        aside = self._aside.get((tier, tenant, run_id))
        return aside is None or aside[0] <= time.monotonic()

    async def _to_authority(self, rows: Sequence[Waiting]) -> None:
        authority = self._layout.authority
        tenant, run_id = rows[0].tenant, rows[0].run_id
        view = authority.of(tenant)
        run: Run | None = None
        for row in rows:
            if row.kind == "delete":
                with authority.attempt():
                    await view.delete(run_id)
                await self._caches.evict(tenant, run_id)
                await self._outbox.put((), instead_of=[row.id])
                continue
            entries = row.entries()
            try:
                with authority.attempt():
                    run = await push(
                        view, run_id, row.expected_version, entries, fence=row.fence, known=run
                    )
            except AppendRefused as refusal:
                # Somebody else went on with the run meanwhile. What they did counts.
                await self._outbox.refuse(
                    authority.name, tenant, run_id, refusal.message, self.copies_of(tenant, run_id)
                )
                await self._caches.evict(tenant, run_id)
                return
            await self._outbox.put((), instead_of=[row.id])
            if run.version == row.end:
                await self._caches.keep(tenant, run, entries, expected_version=row.expected_version)

    def copies_of(self, tenant: str, run_id: str) -> list[Waiting]:
        """What to queue for every copy to become what the authority holds of a run."""
        return [Waiting(tier.name, tenant, run_id, "copy") for tier in self._layout.copies]

    def deletions_of(self, tenant: str, run_id: str) -> list[Waiting]:
        """What to queue for every copy to forget a run."""
        return [Waiting(tier.name, tenant, run_id, "delete") for tier in self._layout.copies]

    async def _to_copy(self, tier: Tier, rows: Sequence[Waiting]) -> bool:
        tenant, run_id = rows[0].tenant, rows[0].run_id
        kinds = {row.kind for row in rows}
        # Entries first: an authority that has lost the run could not give them a second time.
        appended = await self._append(tier, [row for row in rows if row.kind == "append"])
        if not appended or kinds != {"append"}:
            deleted = "delete" in kinds
            if not await self._copy(tier, tenant, run_id, deleted=deleted):
                return False
        await self._outbox.put((), instead_of=[row.id for row in rows])
        return True

    async def _append(self, tier: Tier, rows: Sequence[Waiting]) -> bool:
        """Append to a copy; False when it holds something else than it should."""
        if not rows or not _is_a_sequence(rows):
            return False
        tenant, run_id, after = rows[0].tenant, rows[0].run_id, rows[0].expected_version
        entries = [entry for row in rows for entry in row.entries()]
        key = (tier.name, tenant, run_id)
        known = self._held.pop(key, None)
        try:
            with tier.attempt():
                run = await push(tier.of(tenant), run_id, after, entries, known=known)
        except AppendRefused:
            return False
        self._remember(key, run)
        return True

    async def _copy(self, tier: Tier, tenant: str, run_id: str, *, deleted: bool) -> bool:
        """Make a copy what the authority holds; False when the authority cannot tell now.

        A run that the authority does not have any more stays in the copy unless it was deleted:
        where the authority forgets runs by their age, the copies are the archive.
        """
        authority = self._layout.authority
        while True:
            if await self._outbox.rows(authority.name, tenant, run_id):
                return False  # the authority itself is behind
            try:
                with authority.attempt():
                    origin = await read_all(authority.of(tenant), run_id)
            except StorageError:
                return False
            key = (tier.name, tenant, run_id)
            self._held.pop(key, None)
            with tier.attempt():
                if origin is None:
                    if deleted:
                        await tier.of(tenant).delete(run_id)
                    return True
                run, entries = origin
                try:
                    await make_equal(tier.of(tenant), run_id, run, entries)
                except VersionConflict:
                    continue  # another process delivered to it meanwhile
            self._remember(key, run)
            # What was appended in between may have been delivered before the copy was renewed.
            try:
                with authority.attempt():
                    if (await authority.of(tenant).load(run_id)).version == run.version:
                        return True
            except StorageError:
                return False

    def _remember(self, key: Key, run: Run) -> None:
        self._held[key] = run
        while len(self._held) > _KNOWN_RUNS:
            self._held.popitem(last=False)


def _is_a_sequence(rows: Sequence[Waiting]) -> bool:
    return all(row.expected_version == before.end for before, row in pairwise(rows))
