"""The phase machine that works on one run.

The next phase follows from what is stored, so a run that was killed goes on where its last entry
left it:

    started -> drafted -> [retrieved] -> validated -> [critiqued] -> decided -> drafted ...

Where a model writes, the editor's version of the input comes between `validated` and `critiqued`.

Several versions of one round go through the arrows together. After `decided` the run stops, for one
of the reasons of `StopReason`, or the next version is written from the champion. What a phase has
found is appended before the next one that takes time begins: what is computed at once goes with
it. Answers of models are appended as they come, between the phases.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import anyio

from sifaka.calls.context import PARALLEL, Calls
from sifaka.calls.host import Suspended
from sifaka.calls.journal import Journal
from sifaka.calls.ledger import Ledger
from sifaka.calls.recovery import Recovery
from sifaka.chain.events import ended_elsewhere
from sifaka.chain.parts import Parts
from sifaka.chain.phases.context import Phase, PhaseContext
from sifaka.chain.phases.critique import critique
from sifaka.chain.phases.generation import write
from sifaka.chain.phases.retrieval import retrieve_for_critics
from sifaka.chain.phases.selection import conclude, end, fail, select
from sifaka.chain.phases.validation import validate
from sifaka.chain.recorder import Recorder
from sifaka.chain.recovery import parallel, recovered
from sifaka.errors import AppendRefused, BudgetExceeded, SifakaError, StorageError, VersionConflict
from sifaka.record.entries import Called, Stopped, StopReason
from sifaka.record.events import Listener
from sifaka.record.run import Reached, Run

_PARTING_SECONDS = 5.0
"""Seconds in which a cancelled run may put its end on record."""
_BUDGET_REASONS: Mapping[str, StopReason] = MappingProxyType(
    {
        "calls": "budget_calls",
        "tokens": "budget_tokens",
        "seconds": "budget_seconds",
        "cost": "budget_cost",
    }
)


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


class Engine:
    """Works on one run until it stops.

    Args:
        parts: The components it works with.
        run: The run as the store holds it.
        emit: Gets an event as each phase begins and as its result is stored.
        fence: The number under which the run was claimed; 0 for the process that created it.
        journal: The calls of the run that is gone through again, for a replay.
    """

    def __init__(
        self,
        parts: Parts,
        run: Run,
        emit: Listener | None = None,
        *,
        fence: int = 0,
        journal: Sequence[Called] | None = None,
    ) -> None:
        own, ledger = parts.resources, Ledger(run.config.budget, run.usage)
        self.recorder = Recorder(
            own.store, run, ledger, fence=fence, emit=emit, monitor=own.monitor
        )
        calls = Calls(
            ledger=ledger,
            journal=Journal(run.calls if journal is None else journal, self.recorder.record_call),
            confirm=self.recorder.confirm,
            replaying=journal is not None,
            frame_key=run.frame_key,
            mends=run.mends,
            breakers=own.breakers,
            monitor=own.monitor,
            limiter=anyio.Semaphore(
                parallel(run) if run.recoveries else PARALLEL, fast_acquire=True
            ),
        )
        self._context = PhaseContext(parts=parts, calls=calls, recorder=self.recorder)
        self._phases = _PHASES if own.retrievers else {**_PHASES, "drafted": validate}

    async def work(self) -> None:
        """Work until the run is done or waits for its caller.

        Raises:
            StorageError: Another process works on the same run.
            Suspended: Answers of the host are needed; the run goes on once they are there.
        """
        recorder, context = self.recorder, self._context
        ending: Phase | None = None
        with context.calls.active():
            async with context.parts.connected():
                while recorder.run.status == "running":
                    phase, ending = ending or self._phases[recorder.run.reached], None
                    try:
                        recorder.add(*await phase(context))
                        if recorder.run.status != "running":  # no further phase stores it
                            await recorder.store()
                    except AppendRefused as refusal:
                        await self._leave_to_others(refusal)
                    except BudgetExceeded as error:
                        reason = _BUDGET_REASONS[error.limit]
                        ending = partial(end, status="done", reason=reason)
                    except StorageError:
                        raise
                    except SifakaError as error:
                        ending = partial(fail, error=error)
                    except Suspended:
                        with suppress(StorageError):
                            await recorder.store()
                        raise
        with suppress(StorageError):  # `warnings` tells of it
            await recorder.store()

    async def recover(self, recovery: Recovery) -> None:
        """Go on after a failure by a recovery, which is put on record first.

        Raises:
            StorageError: As for `work`.
            Suspended: As for `work`.
        """
        calls = self._context.calls
        with calls.ledger.waiting():
            await anyio.sleep(recovery.wait_seconds)
        run = self.recorder.run
        entry = recovered(run, recovery)
        limiter = anyio.Semaphore(parallel(run.apply(entry)), fast_acquire=True)
        self._context = replace(self._context, calls=replace(calls, limiter=limiter))
        await self.recorder.store(entry)
        await self.work()

    async def abandon(self, entry: Stopped) -> None:
        """Put on record that the work broke off; the best version stays the champion.

        A run that has stopped by itself just before stays as it is. No event is emitted.
        """
        recorder = self.recorder
        recorder.emit = None
        if recorder.run.status == "running":
            recorder.add(entry)
        with anyio.move_on_after(_PARTING_SECONDS, shield=True), suppress(StorageError):
            try:
                await recorder.store()
            except VersionConflict:  # what was being stored when the work broke off has been kept
                if not (await recorder.reload()).finished:
                    await recorder.store(entry)

    async def _leave_to_others(self, refusal: AppendRefused) -> None:
        """See that the run has been stopped elsewhere, which ends the work on it here.

        Raises:
            StorageError: It has not: another process works on it.
        """
        run = await self.recorder.reload()
        if not run.finished:
            raise StorageError(
                f"run {run.run_id!r} is being worked on elsewhere",
                "wait for it, or cancel it with cancel_run",
            ) from refusal
        if self.recorder.emit and (event := ended_elsewhere(run)):
            await self.recorder.emit(event)
