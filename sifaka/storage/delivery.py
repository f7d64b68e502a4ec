"""Delivery of the outbox: to the log the appends it missed, to indexes its runs."""

import time
from collections.abc import Sequence

from sifaka.errors import AppendRefused, StorageError, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.log import load_if_there
from sifaka.storage.memory import RunCache
from sifaka.storage.outbox import Outbox
from sifaka.storage.outbox_tables import Waiting
from sifaka.storage.parts import AnyPart, IndexPart, Part
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.transfer import push


class Delivery:
    """The log, its indexes, and what waits for them: it is delivered in order, each entry once.

    All views of a store share it. Several processes may work off the same outbox: logs recognise
    the entries that they have, and a row leaves the outbox only after it was delivered.
    """

    def __init__(
        self, log: Part[ThoughtStore], indexes: tuple[IndexPart, ...], outbox: Outbox
    ) -> None:
        self.log = log
        self.indexes = indexes
        self.outbox = outbox
        self.cache = RunCache()
        self.parts: tuple[AnyPart, ...] = (log, *indexes)
        self.index_names = [index.name for index in indexes]

    async def look_after(self, part: AnyPart) -> int:
        """Let a part do what it has put off; how much is left that could be done now.

        Runs that it refused for a reason that kept it from that too are then tried again.
        """
        try:
            with part.attempt():
                left = await part.inner.catch_up()
        except StorageError as failure:
            part.closed = failure.message
            return 0
        freed = [run for run, (_, why) in part.aside.items() if why.message == part.closed]
        part.closed = None
        for run in freed:
            del part.aside[run]
        return left + len(freed)

    async def work_off(self, part: AnyPart, *, deadline: float) -> int:
        """Deliver what waits for one part, until the time is over.

        Returns:
            How much is left that could be done now.

        Raises:
            StorageError: The outbox failed; that a part fails is noted there.
        """
        if part.delivering:
            return 0  # another task is at it
        part.delivering = True
        try:
            for tenant, run_id in part.ready(await self.outbox.runs(part.name)):
                if part.paused:
                    break
                if time.monotonic() >= deadline:
                    return self.outbox.known.waiting.get(part.name, 0)
                await self.deliver(part, tenant, run_id)
            return 0
        finally:
            part.delivering = False

    async def waiting(self, tenant: str, run_id: str) -> list[Waiting]:
        """The changes of a run that wait for the log, after an attempt to deliver them."""
        try:
            rows = await self.outbox.rows(self.log.name, tenant, run_id)
            if rows and not self.log.paused:
                await self.deliver(self.log, tenant, run_id)
                rows = await self.outbox.rows(self.log.name, tenant, run_id)
        except StorageError:
            return []  # the outbox's failure is not the reader's: the log is asked
        return rows

    async def deliver(self, part: AnyPart, tenant: str, run_id: str) -> None:
        """Deliver what waits for a part about one run, if it will have it.

        Raises:
            StorageError: The outbox failed.
        """
        rows = await self.outbox.rows(part.name, tenant, run_id)
        if not rows:
            return
        try:
            if isinstance(part, IndexPart):
                await self._to_index(part, rows)
            else:
                await self._to_log(rows)
        except StorageError as failure:
            if not failure.retryable:
                part.put_aside(tenant, run_id, failure)
            return
        part.aside.pop((tenant, run_id), None)

    def at_hand(self, tenant: str, run_id: str, queued: Sequence[Waiting]) -> Run | None:
        """A run with what waits for the log; None when not all of it is known here."""
        run = self.cached(tenant, run_id)
        steps = queued_steps(run, queued)
        return steps[-1][1] if steps else run if steps is not None else None

    def copies(self, tenant: str, run_ids: Sequence[str]) -> list[Waiting]:
        """The notes that the indexes lack something of these runs."""
        names = self.index_names
        return [Waiting(name, tenant, run_id, "copy") for run_id in run_ids for name in names]

    def cached(self, tenant: str, run_id: str) -> Run | None:
        """A run as this process knows that the log had it."""
        state = self.cache.get(tenant, run_id)
        return state and state.run

    async def _to_log(self, rows: Sequence[Waiting]) -> None:
        log = self.log
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
                self.cache.evict(tenant, run_id)
                await self.outbox.refuse(
                    log.name, tenant, run_id, refusal.message, self.index_names
                )
                return
            await self.outbox.remove([row.id])
            if run.version == row.end:
                self.cache.keep(tenant, run, entries, after=row.expected_version)

    async def _to_index(self, index: IndexPart, rows: Sequence[Waiting]) -> None:
        tenant, run_id, log = rows[0].tenant, rows[0].run_id, self.log
        # The log may be behind itself: the entries that wait for it are at hand.
        queued = await self.outbox.rows(log.name, tenant, run_id)
        gone = bool(queued) and queued[-1].kind == "delete"
        run = None if gone else self.at_hand(tenant, run_id, queued)
        if run is None and queued and not gone:
            return
        if run is None and not gone:
            try:
                with log.attempt():
                    run = await load_if_there(log.inner.scoped(tenant), run_id)
            except StorageError:
                return
        if run is None or any(row.kind == "delete" for row in rows):
            await index.forget(tenant, run_id)
        if run is not None:
            await index.bring(tenant, run)
        await self.outbox.remove([row.id for row in rows])


def queued_steps(run: Run | None, queued: Sequence[Waiting]) -> list[tuple[Entry, Run]] | None:
    """The entries that wait for the log and that a run lacks, each with the run after it.

    None when the beginning of the run is not at hand, or the log has gone on otherwise.
    """
    steps: list[tuple[Entry, Run]] = []
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
                steps.append((entry, run))
        except (KeyError, ValueError):
            return None
    return steps
