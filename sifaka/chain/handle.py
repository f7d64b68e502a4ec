"""The handle of a run, and the phase machine that works on it.

The next phase follows from what is stored, so a run that was killed goes on where its last entry
left it:

    started -> drafted -> [retrieved] -> validated -> [critiqued] -> decided -> drafted ...

Where a model writes, the editor's version of the input comes between `validated` and `critiqued`.

Several versions of one round go through the arrows together. After `decided` the run stops, for one
of the reasons of `StopReason`, or the next version is written from the champion. What a phase has
found is appended before the next one that takes time begins: what is computed at once goes with
it. Answers of models are appended as they come, between the phases.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import cast

import anyio
from anyio.lowlevel import checkpoint

from sifaka.calls.context import PARALLEL, Calls, Journal
from sifaka.calls.host import Suspended
from sifaka.calls.ledger import Ledger
from sifaka.chain.cancellation import CancelEntry, cancel_run, cancellation
from sifaka.chain.parts import Parts
from sifaka.chain.phases import Phase, PhaseContext
from sifaka.chain.phases.critique import critique, retrieve_for_critics, select, validate
from sifaka.chain.phases.generation import conclude, end, fail, write
from sifaka.chain.recorder import Recorder, ended_elsewhere
from sifaka.chain.recovery import Recovery, next_recovery, parallel, recovered, unless_recovered
from sifaka.chain.result import RunResult
from sifaka.errors import AppendRefused, BudgetExceeded, SifakaError, StorageError, VersionConflict
from sifaka.record.entries import Called, Stopped, StopReason
from sifaka.record.run import ChainEvent, Listener, Reached, Run

_PARTING_SECONDS = 5.0
"""Seconds in which a cancelled run may put its end on record."""
_PHASES: Mapping[Reached, Phase] = MappingProxyType(
    {
        "started": write,
        "drafted": retrieve_for_critics,
        "retrieved": validate,
        "validated": critique,
        "critiqued": select,
        "decided": write,
        "anchored": conclude,
    }
)
"""The phase that follows each; without retrievers `drafted` is followed by `validate`."""


@dataclass(slots=True, eq=False)
class RunHandle:
    """A run that this process has created or claimed, and may work on without loading it again.

    It is worked on once. Work that has broken off is gone on with by `Chain.resume`.
    """

    parts: Parts
    """The components it is worked on with."""
    taken: Run
    """The run as the store holds it before the work."""
    fence: int = 0
    """The number under which it was claimed; 0 for the process that created it."""
    journal: Sequence[Called] | None = None
    """The calls of the run that is replayed; None outside a replay."""
    _context: PhaseContext | None = field(default=None, init=False)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.taken.run_id

    @property
    def run(self) -> Run:
        """The run after its last entry."""
        return self.taken if self._context is None else self._context.recorder.run

    @property
    def result(self) -> RunResult:
        """The run as its caller sees it now."""
        if self._context is None:
            return RunResult(run=self.taken, warnings=self.parts.resources.store.degraded)
        recorder = self._context.recorder
        return RunResult(run=recorder.run, warnings=recorder.warnings)

    async def work(
        self,
        listen: Listener | None = None,
        parting: CancelEntry = cancellation,
        *,
        recovery: Recovery | None = None,
    ) -> RunResult:
        """Work on the run until it is done or waits for its caller.

        Args:
            listen: Gets each event as it happens. One that raises cancels the work.
            parting: Is asked, when this work is cancelled, for the entry to put on record; None
                leaves the run open for another process.
            recovery: The way to go on with a run that has failed in this handle.

        Returns:
            The best version so far, the verdicts on it and why the run stopped.

        Raises:
            StorageError: The store failed, or another process works on the run.
            Suspended: Answers of the host are needed.
            Exception: The listener's.
        """
        listening = None if listen is None else _Listening(listen)
        if recovery is None or self._context is None:
            self._context = self._begin()
        self._context.recorder.emit = listening
        with self.parts.resources.monitor.measure("run", "run", run_id=self.taken.run_id):
            with nullcontext() if listening is None else listening.scope:
                try:
                    if recovery is not None:
                        self._context = await _recover(self._context, recovery)
                    await self._run_phases(self._context)
                except anyio.get_cancelled_exc_class():
                    if (entry := parting()) is not None:
                        await _abandon(self._context.recorder, entry)
                    raise
                except StorageError:
                    raise
                # A bug stays a bug and is raised, but its run must not look as if it went on.
                except Exception as error:
                    broke_off = f"the run broke off with {type(error).__name__}"
                    failed = Stopped(status="failed", stop_reason="error", error=broke_off)
                    await _abandon(self._context.recorder, failed)
                    raise
            if listening is not None and listening.error is not None:
                raise listening.error
        return self.result

    async def work_with_recovery(self, listen: Listener | None = None, *, most: int) -> RunResult:
        """Work on the run, and go on after failures in the way that suits them.

        Args:
            listen: As for `work`.
            most: Recoveries of the run.
        """
        result = await self.work(unless_recovered(listen, left=most))
        for left in range(most - 1, -1, -1):
            recovery = next_recovery(result.run)
            if recovery is None:
                break
            result = await self.work(unless_recovered(listen, left=left), recovery=recovery)
        return result

    async def cancel(self) -> RunResult:
        """Stop the run, wherever it is worked on, and keep its best version."""
        return await cancel_run(self.parts.resources.store, self.run_id)

    def _begin(self) -> PhaseContext:
        """The surroundings of the work on the run as it was taken."""
        own, run = self.parts.resources, self.taken
        ledger = Ledger(run.config.budget, run.usage)
        recorder = Recorder(own.store, run, ledger, fence=self.fence, monitor=own.monitor)
        calls = Calls(
            ledger=ledger,
            journal=Journal(
                run.calls if self.journal is None else self.journal, recorder.record_call
            ),
            confirm=recorder.confirm,
            replaying=self.journal is not None,
            frame_key=run.frame_key,
            mends=run.mends,
            breakers=own.breakers,
            monitor=own.monitor,
            limiter=anyio.Semaphore(
                parallel(run) if run.recoveries else PARALLEL, fast_acquire=True
            ),
        )
        return PhaseContext(parts=self.parts, calls=calls, recorder=recorder)

    async def _run_phases(self, context: PhaseContext) -> None:
        """One phase after the other, until the run is done or waits for its caller."""
        recorder = context.recorder
        phases = _PHASES if self.parts.resources.retrievers else {**_PHASES, "drafted": validate}
        ending: Phase | None = None
        with context.calls.active():
            async with context.parts.connected():
                while recorder.run.status == "running":
                    phase, ending = ending or phases[recorder.run.reached], None
                    try:
                        recorder.add(*await phase(context))
                        if recorder.run.status != "running":  # no further phase stores it
                            await recorder.store()
                    except AppendRefused as refusal:
                        await _leave_to_others(recorder, refusal)
                    except BudgetExceeded as error:
                        reason = cast("StopReason", f"budget_{error.limit}")
                        ending = partial(end, status="done", reason=reason)
                    except StorageError:
                        raise
                    except SifakaError as error:
                        ending = partial(fail, error=error)
                    except Suspended:
                        with suppress(StorageError):
                            await recorder.store()
                        raise
        with suppress(StorageError):  # `warnings` reports it
            await recorder.store()


async def _recover(context: PhaseContext, recovery: Recovery) -> PhaseContext:
    """Put a recovery on record, and give the surroundings in which the work goes on."""
    calls, recorder = context.calls, context.recorder
    with calls.ledger.waiting():
        await anyio.sleep(recovery.wait_seconds)
    await recorder.store(recovered(recorder.run, recovery))
    limiter = anyio.Semaphore(parallel(recorder.run), fast_acquire=True)
    return replace(context, calls=replace(calls, limiter=limiter))


async def _abandon(recorder: Recorder, entry: Stopped) -> None:
    """Put on record that the work broke off; the best version stays the champion.

    A run that has stopped by itself just before stays as it is. No event is emitted.
    """
    recorder.emit = None
    if recorder.run.status == "running":
        recorder.add(entry)
    with anyio.move_on_after(_PARTING_SECONDS, shield=True), suppress(StorageError):
        try:
            await recorder.store()
        except VersionConflict:  # what was being stored when the work broke off has been kept
            if not (await recorder.reload()).finished:
                await recorder.store(entry)


async def _leave_to_others(recorder: Recorder, refusal: AppendRefused) -> None:
    """See that the run has been stopped elsewhere, which ends the work on it here.

    Raises:
        StorageError: It has not: another process works on it.
    """
    run = await recorder.reload()
    if not run.finished:
        raise StorageError(
            f"run {run.run_id!r} is being worked on elsewhere",
            "wait for it, or cancel it with cancel_run",
        ) from refusal
    if recorder.emit and (event := ended_elsewhere(run)):
        await recorder.emit(event)


class _Listening:
    """Passes events to a listener, one at a time and in the order in which they happened.

    A listener that raises cancels `scope`, in which the work is done, and not just the branch of
    the work that had something to report.
    """

    def __init__(self, listen: Listener) -> None:
        self.scope = anyio.CancelScope()
        self.error: Exception | None = None
        self._listen = listen
        self._unsent: deque[ChainEvent] = deque()
        self._turn = anyio.Lock(fast_acquire=True)

    async def __call__(self, event: ChainEvent) -> None:
        self._unsent.append(event)
        async with self._turn:
            while self._unsent and self.error is None:
                try:
                    await self._listen(self._unsent.popleft())
                # Raised again by the handle, once the work has ended.
                except Exception as error:  # noqa: BLE001
                    self.error = error
                    self.scope.cancel()
                    await checkpoint()
