"""The chain: a configured refinement."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Literal, Self

import anyio
from pydantic import ValidationError

from sifaka.blocking import run_blocking
from sifaka.budget import Budget, Ledger
from sifaka.chain.cancellation import cancel_run
from sifaka.chain.components import describe, settings_of
from sifaka.chain.engine import Engine
from sifaka.chain.parts import Parts
from sifaka.chain.result import RunResult
from sifaka.chain.review import Review
from sifaka.chain.submission import Submission, take_in
from sifaka.chain.writers import asks_a_provider, judge_for, model_name, writers_for
from sifaka.critics import CriticSpec, parse_critics, with_judge
from sifaka.critique import run_critics
from sifaka.entries import ChainConfig, Drafted, Started
from sifaka.errors import ConfigurationError, StorageError
from sifaka.events import ChainEvent
from sifaka.explain import explain
from sifaka.models import AUTO
from sifaka.presets import Effort, iterations
from sifaka.results import Usage
from sifaka.retrieval import first_version
from sifaka.retrievers.protocol import Retriever
from sifaka.run import Run
from sifaka.selection import EDITOR
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.texts import check_text
from sifaka.thought import Thought
from sifaka.validators import parse_validators
from sifaka.validators.protocol import Validator

Listener = Callable[[ChainEvent], Awaitable[None]]
Policy = Literal["best", "last"]


class Chain:
    """A configured refinement: generate, validate, critique, keep the best, and again.

    Its methods never change it: each `with_...` returns a new one, and one chain serves any number
    of runs at the same time.

    Args:
        model: Who writes. `auto` (the editor, then the calling agent), `editor`, `caller`,
            `provider:name`, a PydanticAI agent or model, or any `Model`.
        validators: What a text must pass: validators or their specs.
        critics: Who judges it: critics, names or specs. None takes `self_refine` with a model and
            `lint` without one.
        retrievers: Where documents for the writer and the critics come from.
        prompt: The task, for runs that are given none.
        effort: How many versions may be written, when `max_iterations` does not say.
        max_iterations: The most versions that a model or the caller writes after the first.
        policy: `best` keeps the best version so far, `last` the last one.
        budget: What a run may spend.
        judge_model: What critics ask that name no model; the writer's model when None.
        store: Where runs are kept; in memory when None.
        deps: What a PydanticAI agent's tools depend on.

    Raises:
        ConfigurationError: A component or a setting is wrong; nothing was started.
    """

    def __init__(
        self,
        *,
        model: Any = AUTO,
        validators: Iterable[Validator | Mapping[str, object]] = (),
        critics: Iterable[CriticSpec] | None = None,
        retrievers: Iterable[Retriever] = (),
        prompt: str = "",
        effort: Effort = "standard",
        max_iterations: int | None = None,
        policy: Policy = "best",
        budget: Budget | None = None,
        judge_model: Any = None,
        store: ThoughtStore | None = None,
        deps: Any = None,
    ) -> None:
        self.model = model
        self.validators = parse_validators(validators)
        default = ("self_refine",) if asks_a_provider(model) else ("lint",)
        self.critics = parse_critics(default if critics is None else critics)
        self.retrievers = tuple(retrievers)
        self.prompt = prompt
        self.max_iterations = iterations(effort) if max_iterations is None else max_iterations
        self.policy: Policy = policy
        self.budget = budget or Budget()
        self.judge_model = judge_model
        self.store = store or MemoryStorage()
        self.deps = deps
        self._critics_given = critics is not None
        try:
            _ = self.config
        except ValidationError as error:
            raise ConfigurationError(explain(error)) from error

    @classmethod
    def of_config(cls, config: ChainConfig, *, store: ThoughtStore) -> Self:
        """The chain that a stored run was started with, built again.

        Raises:
            ConfigurationError: It had a component that is code, not data; only the program that
                has that code can go on with the run.
        """
        return cls(**settings_of(config), store=store)

    @property
    def config(self) -> ChainConfig:
        """The chain as data."""
        return ChainConfig(
            model=model_name(self.model),
            validators=tuple(describe(v) for v in self.validators),
            critics=tuple(describe(c) for c in self.critics),
            retrievers=tuple(describe(r) for r in self.retrievers),
            policy=self.policy,
            max_iterations=self.max_iterations,
            budget=self.budget,
            judge_model=None if self.judge_model is None else model_name(self.judge_model),
        )

    def with_model(self, model: Any) -> Self:
        """This chain with another model."""
        return self._with(model=model)

    def with_prompt(self, prompt: str) -> Self:
        """This chain with a task for runs that are given none."""
        return self._with(prompt=prompt)

    def with_retriever(self, retriever: Retriever) -> Self:
        """This chain with one more retriever."""
        return self._with(retrievers=(*self.retrievers, retriever))

    def validate_with(self, *validators: Validator | Mapping[str, object]) -> Self:
        """This chain with more validators."""
        return self._with(validators=(*self.validators, *validators))

    def improve_with(self, *critics: CriticSpec) -> Self:
        """This chain with more critics; the first given replace the default ones."""
        given = self.critics if self._critics_given else ()
        return self._with(critics=(*given, *critics))

    async def run(
        self, prompt: str = "", *, text: str = "", listen: Listener | None = None
    ) -> RunResult:
        """Refine a text, or write one, until the run is done or waits for its caller.

        Args:
            prompt: The task in words; without a text it is what is written.
            text: The text to improve: version 0, which is kept unless something better is found.
            listen: Is told each event as it happens.

        Returns:
            The best version so far, the verdicts on it and why the run stopped. A provider that
            fails is a result with status `failed`, not an exception.

        Raises:
            ConfigurationError: There is nothing to do, or the text or the chain is not usable.
            StorageError: The store failed.
        """
        return await self._work(await self._start(prompt, text), listen)

    async def stream(self, prompt: str = "", *, text: str = "") -> AsyncGenerator[ChainEvent]:
        """Like `run`, yielding the events; the last one carries the run as it ended."""
        engine = await self._start(prompt, text)
        async with aclosing(self._recorded(engine)) as events:
            async for event in events:
                yield event

    def run_sync(self, prompt: str = "", *, text: str = "") -> RunResult:
        """Like `run`, for code that cannot await; also from inside a running event loop."""
        return run_blocking(lambda: self.run(prompt, text=text))

    async def start(self, prompt: str = "", *, text: str = "") -> Run:
        """Store a new run without working on it; `resume` does the work.

        Raises:
            ConfigurationError: As for `run`.
        """
        return (await self._start(prompt, text)).run

    async def resume(self, run_id: str, *, listen: Listener | None = None) -> RunResult:
        """Go on with a run where its last stored phase left it.

        A run that is done stays as it is, and one that waits for its caller goes on waiting.

        Raises:
            ThoughtNotFound: There is no such run.
            ConfigurationError: It was started with another configuration.
        """
        run = await self._own(run_id)
        if run.status in {"done", "needs_revision"}:
            return RunResult(run=run)
        return await self._work(Engine(self._parts(), run.reopened()), listen)

    async def submit(
        self, run_id: str, parent_id: str, text: str, *, listen: Listener | None = None
    ) -> Submission:
        """Take the caller's version into a run that waits for it.

        The same submission made twice is taken once and answered twice.

        Returns:
            Whether the version was accepted, why, and the run after it.

        Raises:
            ThoughtNotFound: There is no such run.
            StaleRevision: The version was written against another than the current champion.
            ConfigurationError: The run does not wait for a revision, or the text is not usable.
        """
        if not check_text(text).strip():
            raise ConfigurationError("the revision is empty", "submit the complete text")
        run, draft = await take_in(self.store, await self._own(run_id), parent_id, text)
        if draft.id not in run.decisions:
            # A caller that leaves meanwhile may come back: what it submitted stays open.
            engine = Engine(self._parts(), run.reopened())
            await _listened(engine.drive(), listen)
            run = engine.run
        return Submission.of(run, draft.id)

    async def cancel(self, run_id: str) -> RunResult:
        """Stop a run, wherever it is worked on, and keep its best version.

        Raises:
            ThoughtNotFound: There is no such run.
        """
        return await cancel_run(self.store, run_id)

    async def critique(self, thought: Thought) -> Review:
        """What the chain's critics say about a thought; nothing is stored."""
        parts = self._parts()
        ledger = Ledger(self.budget, Usage())
        async with parts.connected():
            feedback = await run_critics(parts.critics, thought, ledger)
        return Review(feedback=feedback, usage=ledger.spent)

    async def _start(self, prompt: str, text: str) -> Engine:
        prompt = check_text(prompt or self.prompt, "prompt")
        if not (prompt.strip() or check_text(text).strip()):
            raise ConfigurationError("there is no text and no prompt", "give one of them")
        parts = self._parts()
        if not text.strip() and self.model == EDITOR:
            raise ConfigurationError(
                "the editor cannot write a text from a prompt", "give a text, or another model"
            )
        started = Started(prompt=prompt, config=self.config)
        run = Run.start(started)
        entries: list[Started | Drafted] = [started]
        if text.strip():
            first = await first_version(run, text, self.retrievers)
            entries.append(Drafted(thought=first))
            run = run.apply(entries[-1])
        await self.store.append(run, entries, expected_version=0)
        return Engine(parts, run)

    async def _work(self, engine: Engine, listen: Listener | None) -> RunResult:
        await _listened(self._recorded(engine), listen)
        return RunResult(run=engine.run)

    async def _recorded(self, engine: Engine) -> AsyncGenerator[ChainEvent]:
        """The engine's events; when it breaks off, the record says how."""
        try:
            async with aclosing(engine.drive()) as events:
                async for event in events:
                    yield event
        except anyio.get_cancelled_exc_class():
            await engine.abandon("cancelled", "cancelled", None)
            raise
        except StorageError:
            raise
        # A bug stays a bug and is raised, but its run must not look as if somebody worked on it.
        except Exception as error:
            kind = type(error).__name__
            await engine.abandon("failed", "error", f"the run broke off with {kind}")
            raise

    async def _own(self, run_id: str) -> Run:
        run = await self.store.load(run_id)
        if run.config.fingerprint != self.config.fingerprint:
            raise ConfigurationError(
                f"run {run_id!r} was started with another configuration",
                "resume it with the chain that started it, or start a new run",
            )
        return run

    def _parts(self) -> Parts:
        writers = writers_for(self.model, self.validators, deps=self.deps)
        judge = judge_for(self.judge_model, writers)
        return Parts(
            writers=writers,
            validators=self.validators,
            critics=tuple(with_judge(critic, judge) for critic in self.critics),
            retrievers=self.retrievers,
            store=self.store,
        )

    def _with(self, **changes: Any) -> Self:
        settings: Mapping[str, Any] = {
            "model": self.model,
            "validators": self.validators,
            "critics": self.critics if self._critics_given else None,
            "retrievers": self.retrievers,
            "prompt": self.prompt,
            "max_iterations": self.max_iterations,
            "policy": self.policy,
            "budget": self.budget,
            "judge_model": self.judge_model,
            "store": self.store,
            "deps": self.deps,
        }
        return type(self)(**{**settings, **changes})


async def _listened(events: AsyncGenerator[ChainEvent, None], listen: Listener | None) -> None:
    async with aclosing(events):
        async for event in events:
            if listen is not None:
                await listen(event)
