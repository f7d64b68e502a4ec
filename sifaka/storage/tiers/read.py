"""Loading, listing and searching: who is asked first, and who while the authority is down."""

import time

import anyio

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.run import Run
from sifaka.storage.entry_json import apply_entry
from sifaka.storage.protocol import Filters, Hits, RunPage, ThoughtStore
from sifaka.storage.retention import every_run
from sifaka.storage.tiers.backlog import Waiting
from sifaka.storage.tiers.cache import Caches
from sifaka.storage.tiers.delivery import Delivery
from sifaka.storage.tiers.layout import Layout
from sifaka.storage.tiers.outbox import Outbox
from sifaka.storage.tiers.recent import Listing
from sifaka.storage.tiers.tier import Tier

_BEFORE_LISTING_SECONDS = 1.0


class Reading:
    """Reads from the first tier that may be trusted and works."""

    def __init__(self, layout: Layout, caches: Caches, outbox: Outbox, delivery: Delivery) -> None:
        self._layout = layout
        self._caches = caches
        self._outbox = outbox
        self._delivery = delivery
        self._listing = Listing()

    async def load(self, tenant: str, run_id: str) -> Run:
        """See `CachedStorage.load`."""
        authority = self._layout.authority
        rows = await self.waiting(tenant, run_id)
        failure: StorageError | None = None
        if not rows:
            try:
                with authority.attempt():
                    return await authority.of(tenant).load(run_id)
            except ThoughtNotFound:
                archive = await self.archive(tenant, run_id)
                if archive is None:
                    raise
                return await archive.load(run_id)
            except StorageError as error:
                failure = error
        return await self._without_authority(tenant, run_id, rows, failure or authority.failure)

    async def archive(self, tenant: str, run_id: str) -> ThoughtStore | None:
        """A copy of a run that the authority does not have any more, and that nobody deleted."""
        for tier in self._layout.copies:
            try:
                if not await self._outbox.rows(tier.name, tenant, run_id):
                    with tier.attempt():
                        await tier.of(tenant).size(run_id)
                    return tier.of(tenant)
            except (ThoughtNotFound, StorageError):
                continue
        return None

    async def waiting(self, tenant: str, run_id: str) -> list[Waiting]:
        """What still waits for the authority about a run, after an attempt to deliver it."""
        authority = self._layout.authority
        try:
            rows = await self._outbox.rows(authority.name, tenant, run_id)
            if rows and not authority.paused:
                await self._delivery.deliver(authority, tenant, run_id)
                rows = await self._outbox.rows(authority.name, tenant, run_id)
        except StorageError:
            return []  # the queue's failure is not the reader's: the authority is asked
        return rows

    async def size(self, tenant: str, run_id: str) -> int:
        """See `CachedStorage.size`."""
        await self.waiting(tenant, run_id)
        layout, failure = self._layout, None
        for tier in (layout.authority, *layout.copies, *layout.caches):
            try:
                with tier.attempt():
                    return await tier.of(tenant).size(run_id)
            except ThoughtNotFound:
                archive = None if failure else await self.archive(tenant, run_id)
                if archive is not None:
                    return await archive.size(run_id)
                if failure is None:
                    raise
            except StorageError as error:
                failure = failure or error
        assert failure is not None, "a tier that works answers"
        raise failure

    async def recent(self, tenant: str, limit: int, cursor: str | None) -> RunPage:
        """See `CachedStorage.recent`."""
        layout, failure = self._layout, None
        for tier in (layout.authority, *layout.copies):
            await self._deliver(tier, time.monotonic() + _BEFORE_LISTING_SECONDS)
            try:
                with tier.attempt():
                    return await tier.of(tenant).recent(limit=limit, cursor=cursor)
            except StorageError as error:
                failure = failure or error
        assert failure is not None, "a tier that works answers"
        if not layout.caches or not failure.retryable:
            raise failure
        lines = [line async for line in every_run(layout.caches[0].of(tenant))]
        for owner, run_id in await self._outbox.runs(layout.authority.name, limit=1000):
            if owner == tenant:
                try:
                    lines.append((await self.load(tenant, run_id)).summary())
                except (StorageError, ThoughtNotFound):
                    continue  # only its end is known here
        return self._listing.page(tenant, lines, limit=limit, cursor=cursor)

    async def search(
        self, tenant: str, query: str, limit: int, only: Filters, *, deadline: float
    ) -> Hits:
        """See `CachedStorage.search`."""
        layout, down, failure = self._layout, list[str](), None
        for tier in reversed((*layout.caches, layout.authority, *layout.copies)):
            await self._deliver(tier, deadline)
            try:
                with tier.attempt():
                    hits = await tier.of(tenant).search(query, limit=limit, only=only)
            except StorageError as error:
                failure = failure or error
                down.append(f"{tier.name} is down")
                continue
            late = self._outbox.known.waiting.get(tier.name, 0)
            lacks = [*down, *([f"{late} appends are not in it yet"] if late else [])]
            return hits.model_copy(update={"search": _lacking(hits.search, lacks)})
        assert failure is not None, "a tier that works answers"
        raise failure

    async def _deliver(self, tier: Tier, deadline: float) -> None:
        """Bring a tier up to date as far as that is possible by the deadline."""
        if not self._outbox.empty:
            with anyio.move_on_after(max(0.0, deadline - time.monotonic())):
                # An event would belong to one event loop; who delivers may be in another.
                while tier.delivering:  # noqa: ASYNC110 - see above
                    await anyio.sleep(0.01)
                try:
                    await self._delivery.work_off(tier, deadline=deadline)
                except StorageError:
                    return  # the queue's failure is told by `health`

    async def _without_authority(
        self, tenant: str, run_id: str, rows: list[Waiting], failure: StorageError | None
    ) -> Run:
        deleted = [n for n, row in enumerate(rows) if row.kind == "delete"]
        if deleted:
            rows = rows[deleted[-1] + 1 :]
            if not rows:
                raise ThoughtNotFound(run_id)
        known = [] if deleted else await self._known(tenant, run_id)
        run = max(known, key=lambda each: each.version, default=None)
        for row in rows:
            version = run.version if run else 0
            if version < row.expected_version:
                break
            for entry in row.entries()[version - row.expected_version :]:
                run = apply_entry(run_id, run, entry)
        if run is None or (rows and run.version < rows[-1].end):
            raise failure or StorageError(
                f"only the end of run {run_id!r} is known here", "try again in a moment"
            )
        return run

    async def _known(self, tenant: str, run_id: str) -> list[Run]:
        cached = await self._caches.held(tenant, run_id)
        found = [cached] if cached else []
        for tier in self._layout.copies:
            try:
                with tier.attempt():
                    found.append(await tier.of(tenant).load(run_id))
            except (ThoughtNotFound, StorageError):
                continue
        return found


def _lacking(search: str, lacks: list[str]) -> str:
    if not lacks:
        return search
    if search.endswith(")"):
        return f"{search[:-1]}; {'; '.join(lacks)})"
    return f"{search} ({'; '.join(lacks)})"
