"""Delivery of the outbox: to the log the appends it missed, to indexes its runs."""

import time
from collections.abc import Sequence

from sifaka.errors import AppendRefused, StorageError, VersionConflict
from sifaka.record.run import Run
from sifaka.storage.log import load_if_there
from sifaka.storage.memory import RunCache
from sifaka.storage.outbox import Outbox
from sifaka.storage.outbox_tables import Waiting
from sifaka.storage.parts import AnyPart, IndexPart, Layout
from sifaka.storage.transfer import push

_AT_ONCE = 50
"""Runs that are looked up in the outbox at a time."""
_PUT_ASIDE = 60.0
"""Seconds after which a run is tried again that a part which works would not take."""


class Delivery:
    """Delivers what waits, in order for each part and run, each entry once.

    Several processes may work off the same outbox: logs recognise the entries that they have, and a
    row leaves the outbox only after it was delivered.
    """

    def __init__(self, layout: Layout, cache: RunCache, outbox: Outbox) -> None:
        self.layout = layout
        self.cache = cache
        self.outbox = outbox
        self._aside: dict[tuple[str, str, str], tuple[float, StorageError]] = {}
        """Name of a part, tenant and run: when it is tried again, and why not now."""
        self._closed: dict[str, str] = {}
        """Parts that refused what is about no run, with their message."""

    def put_aside(self, tenant: str) -> list[tuple[str, str, StorageError]]:
        """The runs of a tenant that a part refused: part, run and error."""
        return [
            (part, run_id, failure)
            for (part, owner, run_id), (_, failure) in list(self._aside.items())
            if owner == tenant
        ]

    async def look_after(self, part: AnyPart) -> int:
        """Let a part do what it has put off; how much is left that could be done now.

        Runs that it refused for a reason that kept it from that too are then tried again.
        """
        try:
            with part.attempt():
                left = await part.inner.catch_up()
        except StorageError as failure:
            self._closed[part.name] = failure.message
            return 0
        reason = self._closed.pop(part.name, None)
        for key, (_, failure) in list(self._aside.items()):
            if key[0] == part.name and failure.message == reason:
                del self._aside[key]
                left += 1
        return left

    async def work_off(self, part: AnyPart, *, deadline: float) -> int:
        """Deliver to one part until nothing can be done now, or the time is over.

        Returns:
            How much is left that could be done now.

        Raises:
            StorageError: The outbox failed; that a part fails is noted there.
        """
        if part.delivering:
            return 0  # another task is at it
        part.delivering = True
        try:
            tried: set[tuple[str, str]] = set()
            while not part.paused:
                limit = _AT_ONCE + len(tried) + len(self._aside)
                runs = await self.outbox.runs(part.name, limit)
                if len(runs) < limit:  # these are all
                    self._forget_others(part.name, runs)
                ready = [
                    run for run in runs if run not in tried and self._is_ready(part.name, *run)
                ]
                if not ready:
                    return 0
                for tenant, run_id in ready:
                    if time.monotonic() >= deadline:
                        return self.outbox.known.waiting.get(part.name, 0)
                    if part.paused:
                        return 0
                    if not await self.deliver(part, tenant, run_id):
                        tried.add((tenant, run_id))
            return 0
        finally:
            part.delivering = False

    async def waiting(self, tenant: str, run_id: str) -> list[Waiting]:
        """The changes of a run that wait for the log, after an attempt to deliver them."""
        log = self.layout.log
        try:
            rows = await self.outbox.rows(log.name, tenant, run_id)
            if rows and not log.paused:
                await self.deliver(log, tenant, run_id)
                rows = await self.outbox.rows(log.name, tenant, run_id)
        except StorageError:
            return []  # the outbox's failure is not the reader's: the log is asked
        return rows

    async def deliver(self, part: AnyPart, tenant: str, run_id: str) -> bool:
        """Deliver what waits for a part about one run; whether nothing does any more.

        Raises:
            StorageError: The outbox failed.
        """
        rows = await self.outbox.rows(part.name, tenant, run_id)
        if not rows:
            return True
        try:
            if isinstance(part, IndexPart):
                if not await self._to_index(part, rows):
                    return False
            else:
                await self._to_log(rows)
        except StorageError as failure:
            if not failure.retryable:
                again = time.monotonic() + _PUT_ASIDE
                self._aside[part.name, tenant, run_id] = again, failure
            return False
        self._aside.pop((part.name, tenant, run_id), None)
        return True

    def _forget_others(self, part: str, waiting: Sequence[tuple[str, str]]) -> None:
        # Another process has delivered them meanwhile, or they were deleted.
        for key in [key for key in self._aside if key[0] == part and key[1:] not in waiting]:
            del self._aside[key]

    def _is_ready(self, part: str, tenant: str, run_id: str) -> bool:
        aside = self._aside.get((part, tenant, run_id))
        return aside is None or aside[0] <= time.monotonic()

    async def _to_log(self, rows: Sequence[Waiting]) -> None:
        log = self.layout.log
        tenant, run_id = rows[0].tenant, rows[0].run_id
        view = log.inner.scoped(tenant)
        run: Run | None = None
        for row in rows:
            if row.kind == "delete":
                with log.attempt():
                    await view.delete(run_id)
                self.cache.evict(tenant, run_id)
                await self.outbox.remove([row.id])
                continue
            entries = row.entries()
            try:
                with log.attempt():
                    try:
                        run = await push(
                            view, run_id, row.expected_version, entries, fence=row.fence, known=run
                        )
                    except VersionConflict as conflict:
                        if conflict.found >= row.expected_version:
                            raise
                        # No writer shortens a run: the log has lost what is not there any more,
                        # and may know it.
                        await view.catch_up()
                        run = await push(
                            view, run_id, row.expected_version, entries, fence=row.fence
                        )
            except AppendRefused as refusal:
                # Another process went on with the run meanwhile. Its entries count.
                await self.outbox.refuse(log.name, tenant, run_id, refusal.message)
                self.cache.evict(tenant, run_id)
                # Indexes may have got what was refused.
                names = self.layout.names
                await self.outbox.put([Waiting(n, tenant, run_id, "delete") for n in names])
                await self.outbox.mark(names, tenant, run_id)
                return
            await self.outbox.remove([row.id])
            if run.version == row.end:
                self.cache.keep(tenant, run, entries, after=row.expected_version)

    async def _to_index(self, index: IndexPart, rows: Sequence[Waiting]) -> bool:
        tenant, run_id = rows[0].tenant, rows[0].run_id
        if any(row.kind == "delete" for row in rows):
            await index.forget(tenant, run_id)
        if rows[-1].kind != "delete" and not await self._bring(index, tenant, run_id):
            return False
        await self.outbox.remove([row.id for row in rows])
        return True

    async def _bring(self, index: IndexPart, tenant: str, run_id: str) -> bool:
        state = self.cache.get(tenant, run_id)
        run, log = state and state.run, self.layout.log
        # The log may be behind itself: the entries that wait for it are at hand.
        queued = await self.outbox.rows(log.name, tenant, run_id)
        if queued and (run := after_queue(run, queued)) is None:
            return False
        if run is not None:
            await index.bring(tenant, run, renew=False)
            return True
        try:
            with log.attempt():
                run = await load_if_there(log.inner.scoped(tenant), run_id)
        except StorageError:
            return False
        if run is not None:  # else the log has forgotten it by its age
            await index.bring(tenant, run, renew=True)
        return True


def after_queue(run: Run | None, queued: Sequence[Waiting]) -> Run | None:
    """A run with the entries that wait for its log; None when its beginning is not at hand."""
    for row in queued:
        if row.kind == "delete":
            run = None
            continue
        version = run.version if run else 0
        if version < row.expected_version:
            return None
        try:
            for entry in row.entries()[version - row.expected_version :]:
                run = run.apply(entry) if run else Run.replay([entry])
        except (KeyError, ValueError):
            return None  # the log has gone on otherwise: they will be refused
    return run
