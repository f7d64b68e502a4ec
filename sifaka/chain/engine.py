"""The phase machine that works on one run.

What comes next follows from what is stored, so a run that was killed goes on where its last entry
left it:

    started -> drafted -> [retrieved] -> validated -> [critiqued] -> decided -> drafted ...

Every arrow is one append, but that several versions of one round go through it together. After
`decided` the run stops, for one of the reasons of `StopReason`, or the next version is written from
the champion. Answers of models are appended as they come, between the phases.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import reduce
from types import MappingProxyType

import anyio

from sifaka.calls.context import Calls
from sifaka.calls.host import Suspended
from sifaka.calls.journal import Journal
from sifaka.calls.ledger import Ledger
from sifaka.calls.recovery import code_of
from sifaka.chain.degradation import parallel
from sifaka.chain.messages import doing, ended_elsewhere, stored
from sifaka.chain.phases.critique import hear_critics, to_be_heard
from sifaka.chain.phases.generation import Round, next_versions
from sifaka.chain.phases.research import researched
from sifaka.chain.phases.validation import documents_for_critics, opening, verdicts
from sifaka.chain.policies import anchor, decide, decide_by_judge, needs_anchor, unanchored
from sifaka.chain.recorder import Recorder
from sifaka.chain.resources import Parts
from sifaka.chain.stop_rules import no_more_attempts, nothing_left_to_do, twin
from sifaka.chain.writers import Writer
from sifaka.errors import (
    AppendRefused,
    BudgetExceeded,
    ModelProviderError,
    SifakaError,
    StorageError,
    VersionConflict,
)
from sifaka.models.editor import EditorModel
from sifaka.record.entries import Called, Drafted, Entry, Recovered, RunStatus, Stopped, StopReason
from sifaka.record.events import ChainEvent, Phase
from sifaka.record.run import Run

_PARTING_SECONDS = 5.0
"""How long a cancelled run may take to put its end on record."""
_BUDGET_REASONS: Mapping[str, StopReason] = MappingProxyType(
    {
        "calls": "budget_calls",
        "tokens": "budget_tokens",
        "seconds": "budget_seconds",
        "cost": "budget_cost",
    }
)


class Engine:
    """Works on one run until it stops.

    Args:
        parts: What it works with.
        run: The run as the store holds it.
        fence: The number under which it was claimed; 0 for who created it.
        recovery: How it goes on after a failure, to be put on record first.
        predecessor: Who has worked on the run so far in this process.
        journal: The calls of the run that is gone through again, for a replay.
    """

    def __init__(
        self,
        parts: Parts,
        run: Run,
        *,
        fence: int = 0,
        recovery: Recovered | None = None,
        predecessor: "Engine | None" = None,
        journal: Sequence[Called] | None = None,
    ) -> None:
        self._parts = parts
        self._recovery = recovery
        self._ledger = Ledger(run.config.budget, run.usage)
        self.recorder: Recorder = (
            Recorder(parts.store, run, self._ledger, fence=fence)
            if predecessor is None
            else predecessor.recorder.successor(run, self._ledger)
        )
        self._calls = Calls(
            ledger=self._ledger,
            journal=Journal(run.calls if journal is None else journal, self.recorder.record_call),
            replaying=journal is not None,
            frame_key=run.frame_key,
            breakers=parts.breakers,
            monitor=parts.monitor,
            limiter=anyio.Semaphore(parallel(run if recovery is None else run.apply(recovery))),
        )

    @property
    def run(self) -> Run:
        """The run after its last entry."""
        return self.recorder.run

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong with the record, such as what would be lost with this process."""
        unstored = self.recorder.warning
        return (*((unstored,) if unstored else ()), *self._parts.store.degraded)

    async def drive(self) -> AsyncGenerator[ChainEvent, None]:
        """Work until the run is done or waits for its caller.

        Yields:
            An event as each phase begins and as its result is stored.

        Raises:
            StorageError: Another process works on the same run.
            Suspended: Answers of the host are needed; whoever has them goes on with the run.
        """
        if self._recovery is not None:
            yield await self._append(self._recovery)
        try:
            # Closed on the way out: what a phase has begun must not go on after the record is.
            async with self._parts.connected(), aclosing(self._phases()) as events:
                async for event in events:
                    yield event
        except Suspended:
            await self.recorder.flush()
            raise
        await self.recorder.flush()

    async def _phases(self) -> AsyncGenerator[ChainEvent, None]:
        ending: AsyncGenerator[ChainEvent, None] | None = None
        while self.run.status == "running":
            work, ending = ending or self._phase(), None
            try:
                async with aclosing(work) as events:
                    async for event in events:
                        yield event
            except AppendRefused as refusal:
                run = await self.recorder.reload()
                if not run.finished:
                    raise StorageError(
                        f"run {run.run_id!r} is being worked on elsewhere",
                        "wait for it, or cancel it with cancel_run",
                    ) from refusal
                if (end := ended_elsewhere(run)) is not None:
                    yield end
            except BudgetExceeded as error:
                ending = self._end("done", _BUDGET_REASONS[error.limit])
            except StorageError:
                raise
            except SifakaError as error:
                ending = self._fail(error)

    async def abandon(self, entry: Stopped) -> None:
        """Put on record that the work broke off; the best version stays the champion.

        What has stopped by itself just before stays as it is.
        """
        if self.run.status != "running":
            return
        with anyio.move_on_after(_PARTING_SECONDS, shield=True), suppress(StorageError):
            try:
                await self._append(entry)
            except VersionConflict:  # what was being stored when the work broke off has been kept
                if not (await self.recorder.reload()).finished:
                    await self._append(entry)

    def _phase(self) -> AsyncGenerator[ChainEvent, None]:
        match self.run.reached:
            case "started" | "decided":
                return self._write()
            case "drafted" if self._parts.retrievers:
                return self._retrieve_for_critics()
            case "drafted" | "retrieved":
                return self._validate()
            case "validated" if to_be_heard(self._parts, self.run):
                return self._critique()
            case "validated" | "critiqued":
                return self._select()
            case "anchored":
                return self._conclude()

    async def _write(self) -> AsyncGenerator[ChainEvent, None]:
        champion = self.run.champion
        researcher = self._parts.researcher
        if champion is None and researcher is not None:
            work = researched(researcher, self._parts.unaided, self.recorder, self._calls)
            async with aclosing(work) as events:
                async for event in events:
                    yield event
            return
        if champion is not None and nothing_left_to_do(self.run):
            async for event in self._end("done", "passed"):
                yield event
            return
        base = champion or await opening(self._parts, self._calls, self.run)
        round_ = Round(
            run=self.run,
            base=base,
            critics=self._parts.critics,
            judged=self._parts.judge is not None,
            calls=self._calls,
        )
        last: Writer = None
        failure: ModelProviderError | None = None
        for writer in self._parts.writers:
            last = writer
            if self.run.handed_over and writer is not None:
                continue
            if not isinstance(writer, EditorModel) and (reason := no_more_attempts(self.run)):
                async for event in self._end("done", reason):
                    yield event
                return
            if writer is None:
                if champion is None:  # the caller needs a version to submit against
                    yield await self._append(Drafted(thought=base))
                    return
                yield await self._stop("needs_revision", "awaiting_revision", failure)
                return
            if isinstance(writer, EditorModel) and not base.text:
                continue
            yield self._doing("generate", f"{writer.name} writes version {len(self.run.thoughts)}")
            try:
                drafts = await next_versions(round_, writer)
            except ModelProviderError as error:
                if None not in self._parts.writers:
                    raise
                failure = error  # the caller writes
                continue
            if isinstance(writer, EditorModel) and twin(self.run, drafts[0].text):
                continue
            for event in await self._append_all(*(Drafted(thought=draft) for draft in drafts)):
                yield event
            return
        stalled: StopReason = "no_safe_edit" if isinstance(last, EditorModel) else "stalled"
        async for event in self._end("done", stalled):
            yield event

    async def _retrieve_for_critics(self) -> AsyncGenerator[ChainEvent, None]:
        yield self._doing("retrieve", "looking for documents for the critics")
        found = await documents_for_critics(self._parts, self._calls, self.run)
        for event in await self._append_all(*found):
            yield event

    async def _validate(self) -> AsyncGenerator[ChainEvent, None]:
        if self._parts.validators:
            yield self._doing("validate", f"{len(self._parts.validators)} validators")
        for event in await self._append_all(*await verdicts(self._parts, self._calls, self.run)):
            yield event

    async def _critique(self) -> AsyncGenerator[ChainEvent, None]:
        names = ", ".join(critic.name for critic in self._parts.critics)
        yield self._doing("critique", f"asking {names}")
        critiqued = await hear_critics(self._parts, self._calls, self.run)
        entries: list[Entry] = [*critiqued]
        if self._parts.judge is None:
            # The comparison costs nothing and follows from what is stored: one append holds both.
            entries += decide(reduce(Run.apply, critiqued, self.run))
        for event in await self._append_all(*entries):
            yield event

    async def _select(self) -> AsyncGenerator[ChainEvent, None]:
        judge = self._parts.judge
        if judge is None:
            for event in await self._append_all(*decide(self.run)):
                yield event
            return
        if self.run.champion is not None:
            yield self._doing("select", "asking the judge")
        decided = None
        with (
            self._calls.active(),
            self._calls.monitor.measure("phase", "select"),
            self._ledger.within_time(),
        ):
            decided = await decide_by_judge(self.run, judge)
        if decided is None:
            raise BudgetExceeded("seconds")
        for event in await self._append_all(*decided):
            yield event

    async def _end(self, status: RunStatus, reason: StopReason) -> AsyncGenerator[ChainEvent, None]:
        """Stop; where judges have decided, only after a look back at the original."""
        judge = self._parts.judge
        if judge is not None and needs_anchor(self.run):
            yield self._doing("select", "comparing the best version with the original")
            anchored = unanchored(status, reason)
            with (
                self._calls.active(),
                self._calls.monitor.measure("phase", "select"),
                self._ledger.within_time(),
            ):
                anchored = await anchor(self.run, judge, status, reason)
            yield await self._append(anchored)
            return
        yield await self._stop(status, reason)

    async def _conclude(self) -> AsyncGenerator[ChainEvent, None]:
        ending = self.run.ending
        assert ending is not None, "the phase `anchored` has its entry"
        reason = ending.stop_reason
        if reason == "passed" and not nothing_left_to_do(self.run):
            reason = "stalled"  # the version that passed has lost against the original
        yield await self._stop(ending.status, reason)

    async def _fail(self, error: SifakaError) -> AsyncGenerator[ChainEvent, None]:
        yield await self._stop("failed", "error", error)

    def _doing(self, phase: Phase, message: str) -> ChainEvent:
        return doing(self.run, phase, message)

    async def _stop(
        self, status: RunStatus, reason: StopReason, error: SifakaError | None = None
    ) -> ChainEvent:
        entry = Stopped(
            status=status,
            stop_reason=reason,
            error=None if error is None else str(error),
            code=None if error is None else code_of(error),
            retry_after=getattr(error, "retry_after", None),
        )
        return await self._append(entry)

    async def _append(self, entry: Entry) -> ChainEvent:
        (event,) = await self._append_all(entry)
        return event

    async def _append_all(self, *entries: Entry) -> list[ChainEvent]:
        """Store entries, all or none; an event for each."""
        with self._calls.active():
            return [stored(entry, run) for entry, run in await self.recorder.append(*entries)]
