"""The record of a run that is worked on: in the store, or in memory while the store fails.

A run has an event for each entry, and one for each phase that begins.
"""

import logging
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, assert_never

import anyio

from sifaka.calls.failure_log import report_failure
from sifaka.calls.ledger import Ledger
from sifaka.calls.monitoring import Monitor
from sifaka.errors import AppendRefused, StorageError
from sifaka.record.entries import (
    INTERRUPTED,
    Anchored,
    Called,
    Critiqued,
    Decided,
    Declined,
    Drafted,
    Entry,
    Recovered,
    Researched,
    Retrieved,
    Started,
    Stopped,
    Validated,
)
from sifaka.record.outcome import research_details
from sifaka.record.research_question import ResearchStep
from sifaka.record.results import majority
from sifaka.record.run import ChainEvent, Listener, Phase, Run
from sifaka.record.usage import Usage
from sifaka.storage.protocol import ThoughtStore

logger = logging.getLogger(__name__)

_now = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic
)
"""Seconds on a clock that goes on while the machine sleeps."""
_SURE_SECONDS = 0.5
"""After the store has last said so, in which a run is surely still this process's: a process must
be silent for a second at least until others take its runs over."""


class Recorder:
    """Appends to one run. `run` is its state after the last entry.

    When the store fails in the middle of a run, memory takes over: the entries wait, and go to the
    store before the next ones do. A run that the store has never held is not begun that way.

    Args:
        store: The store of the run.
        run: Its state, as the store holds it.
        ledger: The run's account: each entry holds what was spent since the one before.
        fence: The number under which the run was claimed; 0 for the process that created it.
        monitor: Times the store.
    """

    def __init__(
        self,
        store: ThoughtStore,
        run: Run,
        ledger: Ledger,
        *,
        fence: int,
        monitor: Monitor | None = None,
    ) -> None:
        self.run = run
        self.emit: Listener | None = None
        """Gets an event for each entry once that is kept."""
        self._store = store
        self._ledger = ledger
        self._fence = fence
        self._monitor = monitor or Monitor()
        self._lock = anyio.Lock(fast_acquire=True)
        self._added: list[tuple[Entry, Run]] = []
        """Entries that are not stored yet, each with the run after it."""
        self._waiting: list[tuple[Run, Sequence[Entry]]] = []
        """Appends that were tried, each with the run after it."""
        self._kept = run
        """The run without them, as the store holds it."""
        self._unsent: deque[tuple[Entry, Run]] = deque()
        """Steps that are stored, and not emitted yet."""
        self._failure: StorageError | None = None
        self._confirmed = 0.0
        """When the store was last asked what it then confirmed: that the run is still ours."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lines on what is wrong with the record, such as what is only in memory."""
        if self._failure is None:
            return self._store.degraded
        count = self.run.version - self._kept.version
        return (
            f"the last {count} steps are only in memory and will be lost with this process: "
            f"{self._failure.message}",
            *self._store.degraded,
        )

    def add(self, *entries: Entry) -> None:
        """Take entries into `run`, the first with what was spent since the one before.

        They are stored with the next ones, or by `store`: for what is found again at no cost.
        """
        spent = self._ledger.spent - self.run.usage
        for number, entry in enumerate(entries):
            recorded = entry.model_copy(update={"usage": Usage() if number else spent})
            self.run = self.run.apply(recorded)
            self._added.append((recorded, self.run))

    async def store(self, *entries: Entry) -> None:
        """Store what waits in memory, then what was added and these entries, all or none of them.

        Raises:
            AppendRefused: Another process has written to the run, or works on it; see `reload`.
        """
        async with self._lock:
            self.add(*entries)
            await self._store_added()
        while self._unsent and self.emit is not None:
            await self.emit(stored(*self._unsent.popleft()))

    async def record_call(self, call: Called) -> None:
        """Store the answer of a model, with those that came while another append was under way.

        Critics that ask at the same time are answered at the same time: one append holds them all.
        What was added before goes with them.
        """
        self.add(call)
        # Shielded: an answer that has come is kept, also when its caller is cancelled.
        with anyio.CancelScope(shield=True):
            async with self._lock:
                await self._store_added()
        if self._unsent:
            await self.store()

    async def confirm(self) -> None:
        """See that no other process has the run, before something is paid for.

        The store is asked only when time enough has passed for another one to have taken it over,
        as it has for a process that was stopped. While it fails the run goes on, as with appends.

        Raises:
            AppendRefused: Another process works on the run.
        """
        async with self._lock:
            if _now() - self._confirmed > _SURE_SECONDS:
                self._waiting = self._waiting or [(self._kept, ())]  # which stores nothing
                await self._store_waiting()

    async def reload(self) -> Run:
        """The run as the store holds it now, after another process has written to it."""
        async with self._lock:
            self.run = self._kept = await self._store.load(self.run.run_id)
            self._added, self._waiting, self._failure = [], [], None
            return self.run

    async def _store_added(self) -> None:
        steps, self._added = self._added, []
        if steps:
            self._waiting.append((self.run, [entry for entry, _ in steps]))
        if not self._waiting:
            return  # they went along with others
        # Shielded: a critic whose time is over must not leave it open whether this was stored.
        with (
            self._monitor.measure("storage", type(self._store).__name__),
            anyio.CancelScope(shield=True),
        ):
            await self._store_waiting()
        if self.emit is not None:
            self._unsent += (step for step in steps if not isinstance(step[0], Called))

    async def _store_waiting(self) -> None:
        try:
            # Append by append, as they were tried: the store may have kept one although it failed,
            # and knows it again.
            while self._waiting:
                run, entries = self._waiting[0]
                asked_at = _now()  # this process may be stopped before it reads the answer
                version = self._kept.version
                await self._store.append(run, entries, expected_version=version, fence=self._fence)
                self._kept, self._confirmed = run, asked_at
                del self._waiting[0]
        except AppendRefused:
            raise
        except StorageError as error:
            if self._failure is None:
                report_failure(logger, "storage", error, run_id=self.run.run_id)
            self._failure = error
            return
        if self._failure is not None:
            logger.warning("run %s: the store works again, nothing was lost", self.run.run_id)
            self._failure = None


def stored(entry: Entry, run: Run) -> ChainEvent:
    """The event for an entry and the run after it."""
    is_research = isinstance(entry, Researched)
    return doing(
        run,
        *_phase_and_message(entry),
        entry=entry,
        run=run,
        research=entry.step if is_research else run.config.inquiry and research_ended(run),
        section=entry.section if is_research else None,
    )


def research_ended(run: Run) -> ResearchStep | None:
    """The end of a run of research; None while it has not ended, and for every other run.

    One whose process was told to end has not: another process goes on with it.
    """
    if run.config.inquiry is None or not run.finished or run.error_code == INTERRUPTED:
        return None
    if run.status == "failed":
        return "failed"
    if run.status == "cancelled":
        return "cancelled"
    # Without a first version the budget has ended it before there was anything to write from.
    is_partial = run.original is None or bool(research_details(run.original).get("partial"))
    return "partial" if is_partial else "complete"


def ended_elsewhere(run: Run) -> ChainEvent | None:
    """The event that ends research stopped from outside; None for any other run.

    It carries no entry: that was stored elsewhere.
    """
    step = research_ended(run)
    message = f"{run.status}, by somebody else"
    return None if step is None else doing(run, "stop", message, run=run, research=step)


def doing(of: Run, phase: Phase, message: str, **more: Any) -> ChainEvent:
    """The event for a phase of a run that begins, or for what `more` of its fields tell."""
    iteration = max(0, len(of.thoughts) - 1)
    return ChainEvent(run_id=of.run_id, iteration=iteration, phase=phase, message=message, **more)


async def follow_run(
    store: ThoughtStore, run_id: str, *, after: int = 0
) -> AsyncGenerator[ChainEvent]:
    """An event for each entry of a run, those to come included; see `ThoughtStore.follow`."""
    async with aclosing(store.follow(run_id, after=after)) as steps:
        async for entry, run in steps:
            yield stored(entry, run)


def _phase_and_message(entry: Entry) -> tuple[Phase, str]:
    match entry:
        case Started() | Called():
            return "generate", entry.kind
        case Drafted(thought=thought):
            return "generate", f"{thought.author} wrote {len(thought.text)} characters"
        case Researched(message=message):
            return "research", message
        case Retrieved(documents=documents):
            return "retrieve", f"{len(documents)} documents"
        case Validated(results=results):
            passed = sum(result.passed for result in results.values())
            return "validate", f"{passed} of {len(results)} validators pass"
        case Critiqued(feedback=feedback):
            return "critique", majority(feedback) or "no verdict"
        case Decided(decision=decision):
            verdict = "accepted" if decision.accepted else "rejected"
            return "select", f"{verdict}: {decision.reason}"
        case Declined(reason=reason, issue=issue):
            what = f"declined: {issue.message}" if issue else "the rest is declined"
            return "select", f"{what}: {reason}" if reason else what
        case Anchored(decision=decision):
            return "select", decision.reason
        case Recovered(error=error):
            return "recover", error
        case Stopped(stop_reason=reason):
            return "stop", reason
        case _:
            assert_never(entry)
