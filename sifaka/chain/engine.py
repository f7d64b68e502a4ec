"""The phase machine that works on one run.

What comes next follows from what is stored, so a run that was killed goes on where its last entry
left it:

    started -> drafted -> [retrieved] -> validated -> [critiqued] -> decided -> drafted ...

Every arrow is one append. After `decided` the run stops, for one of the reasons of `StopReason`, or
the next version is written from the champion.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from types import MappingProxyType

import anyio

from sifaka.budget import Ledger
from sifaka.chain.parts import Parts
from sifaka.chain.stopping import no_more_attempts, nothing_left_to_do, twin
from sifaka.chain.writers import Writer
from sifaka.critics import asks_a_model
from sifaka.critique import run_critics
from sifaka.entries import (
    Critiqued,
    Decided,
    Decision,
    Drafted,
    Entry,
    Retrieved,
    RunStatus,
    Stopped,
    StopReason,
    Validated,
)
from sifaka.errors import (
    BudgetExceeded,
    ConfigurationError,
    CriticError,
    ModelProviderError,
    SifakaError,
    StorageError,
    VersionConflict,
)
from sifaka.events import ChainEvent, Phase
from sifaka.models import Generation
from sifaka.models.editor import EditorModel
from sifaka.results import Usage, majority
from sifaka.retrieval import first_version, retrieve
from sifaka.run import Run
from sifaka.selection import compare
from sifaka.texts import check_text
from sifaka.thought import Thought
from sifaka.validation import run_validators

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
    """Works on one run until it stops. `run` is its state after the last entry."""

    def __init__(self, parts: Parts, run: Run) -> None:
        self._parts = parts
        self.run = run
        self._ledger = Ledger(run.config.budget, run.usage)

    async def drive(self) -> AsyncGenerator[ChainEvent, None]:
        """Work until the run is done or waits for its caller.

        Yields:
            An event as each phase begins and as its result is stored.

        Raises:
            StorageError: The store failed, or another process works on the same run.
        """
        async with self._parts.connected():
            async for event in self._phases():
                yield event

    async def _phases(self) -> AsyncGenerator[ChainEvent, None]:
        while self.run.status == "running":
            try:
                async for event in self._phase():
                    yield event
            except VersionConflict as conflict:
                self.run = await self._parts.store.load(self.run.run_id)
                if not self.run.finished:
                    raise StorageError(
                        f"run {self.run.run_id!r} is being worked on elsewhere",
                        "wait for it, or cancel it with cancel_run",
                    ) from conflict
            except BudgetExceeded as error:
                yield await self._stop("done", _BUDGET_REASONS[error.limit])
            except StorageError:
                raise
            except SifakaError as error:
                yield await self._stop("failed", "error", str(error))

    async def abandon(self, status: RunStatus, reason: StopReason, error: str | None) -> None:
        """Put on record that the work broke off; the best version stays the champion."""
        with anyio.move_on_after(_PARTING_SECONDS, shield=True), suppress(StorageError):
            await self._stop(status, reason, error)

    def _phase(self) -> AsyncGenerator[ChainEvent, None]:
        match self.run.reached:
            case "started":
                return self._write()
            case "drafted" if self._parts.retrievers:
                return self._retrieve_for_critics()
            case "drafted" | "retrieved":
                return self._validate()
            case "validated" if self._parts.critics and self._latest.text.strip():
                return self._critique()
            case "validated" | "critiqued":
                return self._select()
            case "decided":
                return self._write()

    @property
    def _latest(self) -> Thought:
        assert self.run.latest is not None, "every phase after `started` has a version"
        return self.run.latest

    async def _write(self) -> AsyncGenerator[ChainEvent, None]:
        champion = self.run.champion
        if champion is not None and nothing_left_to_do(self.run):
            yield await self._stop("done", "passed")
            return
        base = champion or await first_version(self.run, "", self._parts.retrievers)
        last: Writer = None
        for writer in self._parts.writers:
            last = writer
            if not isinstance(writer, EditorModel) and (reason := no_more_attempts(self.run)):
                yield await self._stop("done", reason)
                return
            if writer is None:
                if champion is None:  # the caller needs a version to submit against
                    yield await self._append(Drafted(thought=base), "generate", "nothing yet")
                    return
                yield await self._stop("needs_revision", "awaiting_revision")
                return
            if isinstance(writer, EditorModel) and not base.text:
                continue
            yield self._doing("generate", f"{writer.name} writes version {len(self.run.thoughts)}")
            generation = await self._generate(writer, base)
            if isinstance(writer, EditorModel) and twin(self.run, generation.text):
                continue
            yield await self._append(
                Drafted(thought=self._draft(base, generation, writer.name)),
                "generate",
                f"{writer.name} wrote {len(generation.text)} characters",
            )
            return
        stalled: StopReason = "no_safe_edit" if isinstance(last, EditorModel) else "stalled"
        yield await self._stop("done", stalled)

    async def _generate(self, writer: Writer, base: Thought) -> Generation:
        assert writer is not None
        if not isinstance(writer, EditorModel):
            # A version that nobody can judge any more is not worth paying for, but for the first.
            judges = sum(asks_a_model(critic) for critic in self._parts.critics)
            self._ledger.require(1 + judges if base.text else 1)
        with self._ledger.charged(), anyio.move_on_after(self._ledger.seconds_left):
            generation = await writer.generate_with_thought(base)
            self._ledger.charge(generation.usage)
            return _checked(generation, writer.name)
        raise BudgetExceeded("seconds")

    def _draft(self, base: Thought, generation: Generation, author: str) -> Thought:
        spent = self._unrecorded()
        changes = {
            "author": author,
            "model_prompt": generation.prompt_used,
            "tool_calls": generation.tool_calls,
            "metadata": generation.metadata,
            "usage": spent.model_copy(update={"seconds": 0.0}),
        }
        if not self.run.thoughts:
            return base.with_text(generation.text, **changes)
        following = base.next_iteration(iteration=len(self.run.thoughts))
        # Stored without its history, which `Run` knows from the parents.
        return following.with_text(generation.text, history=(), **changes)

    async def _retrieve_for_critics(self) -> AsyncGenerator[ChainEvent, None]:
        yield self._doing("retrieve", "looking for documents for the critics")
        documents = None
        with anyio.move_on_after(self._ledger.seconds_left):
            documents = await retrieve(self._parts.retrievers, self._latest.text)
        if documents is None:
            raise BudgetExceeded("seconds")
        yield await self._append(
            Retrieved(thought_id=self._latest.id, documents=documents),
            "retrieve",
            f"{len(documents)} documents",
        )

    async def _validate(self) -> AsyncGenerator[ChainEvent, None]:
        thought = self._latest
        if self._parts.validators:
            yield self._doing("validate", f"{len(self._parts.validators)} validators")
        original = self.run.original
        results = await run_validators(
            self._parts.validators, thought, original.text if original else None
        )
        passed = sum(r.passed for r in results.values())
        yield await self._append(
            Validated(thought_id=thought.id, results=results),
            "validate",
            f"{passed} of {len(results)} validators pass",
        )

    async def _critique(self) -> AsyncGenerator[ChainEvent, None]:
        thought = self._latest
        same = twin(self.run, thought.text, before=thought)
        if same is not None:
            feedback = same.critic_feedback
        else:
            names = ", ".join(c.name for c in self._parts.critics)
            yield self._doing("critique", f"asking {names}")
            feedback = await run_critics(self._parts.critics, thought, self._ledger)
        if all(f.status == "abstained" for f in feedback) and not self._ledger.exhausted():
            raise CriticError(
                "every critic abstained: " + "; ".join(f"{f.critic}: {f.reason}" for f in feedback)
            )
        critiqued = Critiqued(thought_id=thought.id, feedback=feedback)
        verdict = majority(feedback) or "no verdict"
        # The comparison costs nothing and follows from what is stored: one append holds both.
        judged = self.run.apply(critiqued)
        decided = self._decided(judged)
        for event in await self._append_all(
            (critiqued, "critique", verdict), (decided, "select", _told(decided))
        ):
            yield event

    async def _select(self) -> AsyncGenerator[ChainEvent, None]:
        decided = self._decided(self.run)
        yield await self._append(decided, "select", _told(decided))

    def _decided(self, run: Run) -> Decided:
        candidate, champion, original = run.latest, run.champion, run.original
        assert candidate is not None, "every phase after `started` has a version"
        same = twin(run, candidate.text, before=candidate)
        if champion is None or original is None:
            decision = Decision(accepted=True, reason="the first version")
        elif same is not None:
            decision = Decision(accepted=False, reason=f"the same text as version {same.iteration}")
        elif run.config.policy == "last" and candidate.text.strip():
            decision = Decision(accepted=True, reason="the last version, as the policy wants")
        else:
            decision = compare(candidate, champion, original)
        return Decided(thought_id=candidate.id, decision=decision)

    def _doing(self, phase: Phase, message: str) -> ChainEvent:
        return ChainEvent(
            run_id=self.run.run_id,
            iteration=max(0, len(self.run.thoughts) - 1),
            phase=phase,
            message=message,
        )

    async def _stop(
        self, status: RunStatus, reason: StopReason, error: str | None = None
    ) -> ChainEvent:
        entry = Stopped(status=status, stop_reason=reason, error=error)
        return await self._append(entry, "stop", reason)

    async def _append(self, entry: Entry, phase: Phase, message: str) -> ChainEvent:
        (event,) = await self._append_all((entry, phase, message))
        return event

    async def _append_all(self, *steps: tuple[Entry, Phase, str]) -> list[ChainEvent]:
        """Store entries, all or none, the first with what was spent since the last append."""
        run, entries, events = self.run, list[Entry](), list[ChainEvent]()
        for entry, phase, message in steps:
            spent = Usage() if entries else self._unrecorded()
            recorded = entry.model_copy(update={"usage": spent})
            run = run.apply(recorded)
            entries.append(recorded)
            event = self._doing(phase, message)
            events.append(event.model_copy(update={"entry": recorded, "run": run}))
        await self._parts.store.append(run, entries, expected_version=self.run.version)
        self.run = run
        return events

    def _unrecorded(self) -> Usage:
        return self._ledger.spent - self.run.usage


def _told(decided: Decided) -> str:
    verdict = "accepted" if decided.decision.accepted else "turned down"
    return f"{verdict}: {decided.decision.reason}"


def _checked(generation: Generation, model: str) -> Generation:
    try:
        check_text(generation.text, "the answer")
    except ConfigurationError as error:
        raise ModelProviderError(
            f"{model}: {error.message}", "choose another model", code="malformed"
        ) from error
    return generation
