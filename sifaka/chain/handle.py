"""The handle of a run: what this process does with a run that is its own."""

from collections import deque
from contextlib import nullcontext
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import checkpoint

from sifaka.calls.recovery import Recovery
from sifaka.chain.cancellation import CancelEntry, cancel_run, cancellation
from sifaka.chain.engine import Engine
from sifaka.chain.parts import Parts
from sifaka.chain.recovery import next_recovery, unless_recovered
from sifaka.chain.result import RunResult
from sifaka.errors import StorageError
from sifaka.record.entries import Stopped
from sifaka.record.events import ChainEvent, Listener
from sifaka.record.run import Run


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
    _engine: Engine | None = field(default=None, init=False)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.taken.run_id

    @property
    def run(self) -> Run:
        """The run after its last entry."""
        return self.taken if self._engine is None else self._engine.recorder.run

    @property
    def result(self) -> RunResult:
        """The run as its caller sees it now."""
        if self._engine is None:
            return RunResult(run=self.taken, warnings=self.parts.resources.store.degraded)
        recorder = self._engine.recorder
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
        if recovery is None or self._engine is None:
            self._engine = Engine(self.parts, self.taken, fence=self.fence)
        engine = self._engine
        engine.recorder.emit = listening
        with self.parts.resources.monitor.measure("run", "run", run_id=self.taken.run_id):
            with nullcontext() if listening is None else listening.scope:
                try:
                    await (engine.work() if recovery is None else engine.recover(recovery))
                except anyio.get_cancelled_exc_class():
                    if (entry := parting()) is not None:
                        await engine.abandon(entry)
                    raise
                except StorageError:
                    raise
                # A bug stays a bug and is raised, but its run must not look as if it went on.
                except Exception as error:
                    broke_off = f"the run broke off with {type(error).__name__}"
                    failed = Stopped(status="failed", stop_reason="error", error=broke_off)
                    await engine.abandon(failed)
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


class _Listening:
    """Passes events to a listener, one at a time and in the order in which they happened.

    A listener that raises cancels `scope`, in which the work is done, and not just the branch of
    the work that had something to tell.
    """

    def __init__(self, listen: Listener) -> None:
        self.scope = anyio.CancelScope()
        self.error: Exception | None = None
        self._listen = listen
        self._untold: deque[ChainEvent] = deque()
        self._turn = anyio.Lock(fast_acquire=True)

    async def __call__(self, event: ChainEvent) -> None:
        self._untold.append(event)
        async with self._turn:
            while self._untold and self.error is None:
                try:
                    await self._listen(self._untold.popleft())
                # Raised again by the handle, once the work has ended.
                except Exception as error:  # noqa: BLE001
                    self.error = error
                    self.scope.cancel()
                    await checkpoint()
