"""The record of a run that is worked on: in the store, or in memory while the store fails."""

import logging
from collections.abc import Sequence
from contextlib import suppress

import anyio

from sifaka.calls.failure_log import report_failure
from sifaka.calls.ledger import Ledger
from sifaka.calls.monitoring import Monitor
from sifaka.chain.events import stored
from sifaka.errors import AppendRefused, StorageError
from sifaka.record.entries import Called, Entry
from sifaka.record.events import Listener
from sifaka.record.run import Run
from sifaka.record.usage import Usage
from sifaka.storage.protocol import ThoughtStore

logger = logging.getLogger(__name__)


class Recorder:
    """Appends to one run. `run` is its state after the last entry.

    When the store fails in the middle of a run, memory takes over: the entries wait, and go to the
    store before the next ones do. A run that the store has never held is not begun that way.

    Args:
        store: The store of the run.
        run: Its state, as the store holds it.
        ledger: The run's account: each entry holds what was spent since the one before.
        fence: The number under which the run was claimed; 0 for the process that created it.
        emit: Gets an event for each entry once that is kept.
        monitor: Times the store.
    """

    def __init__(
        self,
        store: ThoughtStore,
        run: Run,
        ledger: Ledger,
        *,
        fence: int,
        emit: Listener | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        self.run = run
        self.emit = emit
        self._store = store
        self._ledger = ledger
        self._fence = fence
        self._monitor = monitor or Monitor()
        self._lock = anyio.Lock()
        self._answers: list[Called] = []
        self._stored = run.version
        self._waiting: list[tuple[Run, Sequence[Entry]]] = []
        self._failure: StorageError | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lines on what is wrong with the record, such as what is only in memory."""
        if self._failure is None:
            return self._store.degraded
        unstored = (
            f"the last {self.run.version - self._stored} steps are only in memory and will be lost "
            f"with this process: {self._failure.message}"
        )
        return (unstored, *self._store.degraded)

    async def append(self, *entries: Entry) -> None:
        """Store entries, all or none, the first with what was spent since the last append.

        Raises:
            VersionConflict: Another process has written to the run.
            StorageError: The store has failed at the run's first entries.
        """
        async with self._lock:
            steps = await self._append(entries)
        if self.emit is not None:
            for entry, run in steps:
                await self.emit(stored(entry, run))

    async def record_call(self, call: Called) -> None:
        """Store the answer of a model, with those that came while another append was under way.

        Critics that ask at the same time are answered at the same time: one append holds them all.
        """
        self._answers.append(call)
        # Shielded: an answer that has come is kept, also when its caller is cancelled.
        with anyio.CancelScope(shield=True):
            async with self._lock:
                await self._record(call)

    async def flush(self) -> None:
        """Try once more to store what waits in memory; `warnings` says whether that failed."""
        if self._waiting:
            async with self._lock:
                with suppress(StorageError):
                    await self._store_waiting()

    async def reload(self) -> Run:
        """The run as the store holds it now, after another process has written to it."""
        async with self._lock:
            self.run = await self._store.load(self.run.run_id)
            self._stored, self._waiting, self._failure = self.run.version, [], None
            return self.run

    async def _record(self, call: Called) -> None:
        if not any(call is waiting for waiting in self._answers):
            return  # it went along with another one
        together, self._answers = self._answers, []
        try:
            await self._append(together)
        except BaseException:
            # Each of the others has to find out for itself.
            self._answers = [each for each in together if each is not call] + self._answers
            raise

    async def _append(self, entries: Sequence[Entry]) -> list[tuple[Entry, Run]]:
        run, spent = self.run, self._ledger.spent - self.run.usage
        steps = list[tuple[Entry, Run]]()
        for entry in entries:
            recorded = entry.model_copy(update={"usage": Usage() if steps else spent})
            run = run.apply(recorded)
            steps.append((recorded, run))
        self._waiting.append((run, [entry for entry, _ in steps]))
        try:
            # Shielded: a critic whose time is over must not leave it open whether this was stored.
            with (
                self._monitor.measure("storage", type(self._store).__name__),
                anyio.CancelScope(shield=True),
            ):
                await self._store_waiting()
        except StorageError as error:
            if isinstance(error, AppendRefused) or self._stored == 0:
                self._waiting.pop()
                raise
            if self._failure is None:
                report_failure(logger, "storage", error, run_id=run.run_id)
            self._failure = error
        except BaseException:
            self._waiting.pop()  # what raises has not happened
            raise
        self.run = run
        return steps

    async def _store_waiting(self) -> None:
        # Append by append, as they were tried: the store may have kept one although it failed, and
        # knows it again.
        while self._waiting:
            run, entries = self._waiting[0]
            await self._store.append(run, entries, expected_version=self._stored, fence=self._fence)
            self._stored = run.version
            del self._waiting[0]
        if self._failure is not None:
            logger.warning("run %s: the store works again, nothing was lost", self.run.run_id)
            self._failure = None
