"""The chain: a configured refinement, and its runs."""

import asyncio
import warnings
import weakref
from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING, Any, Never, Self, Unpack, cast

import anyio

from sifaka._internal.blocking import run_blocking
from sifaka._internal.renamed import no_attribute
from sifaka.calls.context import new_frame_key
from sifaka.calls.monitoring import Monitor
from sifaka.chain.cancellation import CancelEntry, cancel_run, cancellation, is_interrupted
from sifaka.chain.configuration import (
    ChainOptions,
    CommonOptions,
    config_of,
    options_of,
    parsed,
    resources_of,
)
from sifaka.chain.creation import check_can_write, new_run
from sifaka.chain.handle import RunHandle
from sifaka.chain.lessons import lessons_of_similar_runs
from sifaka.chain.parts import build_parts
from sifaka.chain.recorder import follow_run
from sifaka.chain.replay import Replay, replay, without_overrides
from sifaka.chain.result import RunResult
from sifaka.chain.submission import (
    Submission,
    check_submission,
    end_if_older,
    revision,
    settled,
    take_in,
)
from sifaka.chain.submission import accept as accept_text
from sifaka.critics import CriticSpec
from sifaka.errors import ConfigurationError
from sifaka.models.prompt import PROMPTS_VERSION
from sifaka.record.entries import FORM, ChainConfig, Started
from sifaka.record.run import ChainEvent, Listener, Run
from sifaka.record.thought import new_run_id
from sifaka.retrievers.protocol import Retriever
from sifaka.storage.protocol import ThoughtStore
from sifaka.text.input import check_text
from sifaka.validators import ValidatorLike

if TYPE_CHECKING:
    from pydantic_ai import Agent


class Chain:
    """A configured refinement: generate, validate, critique, keep the best, and again.

    One chain serves any number of runs at the same time. It never changes: each `with_...` returns
    a new one.

    Args:
        **options: See `ChainOptions`.

    Raises:
        ConfigurationError: An option is unknown, or a component or a setting is wrong; nothing was
            started.
        PluginError: A component of another package is not allowed, or cannot be used.
    """

    def __init__(self, **options: Unpack[ChainOptions]) -> None:
        self.options = parsed(options)
        self._unused: list[str] = []
        """The method that made it, as long as neither a run nor another chain has come of it."""
        self._dropped: list[str] = []
        """The methods that made chains of it which nobody used."""
        self.resources = resources_of(self.options)
        self.config = config_of(self.options, self.resources)
        self.store: ThoughtStore = self.resources.store
        """The store of the runs."""
        self.monitor: Monitor = self.resources.monitor
        """The times of the components."""

    @classmethod
    def of_config(cls, config: ChainConfig, **options: Unpack[ChainOptions]) -> Self:
        """The chain that a stored run was started with, built again.

        Args:
            config: The run's configuration.
            **options: What is not part of it, such as the store.

        Raises:
            ConfigurationError: It had a component that is code, not data; only the program that
                has that code can go on with the run.
        """
        return cls(**cast("ChainOptions", {**options_of(config), **options}))

    def replace(self, **options: Unpack[ChainOptions]) -> Self:
        """This chain with other options; what they leave out stays.

        Raises:
            ConfigurationError: As for a new chain.
            PluginError: As for a new chain.
        """
        self._unused.clear()
        made = {name: getattr(self.resources, name) for name in ("store", "breakers", "monitor")}
        return type(self)(**cast("ChainOptions", {**self.options, **made, **options}))

    def _derive(self, method: str, **options: Unpack[ChainOptions]) -> Self:
        changed = self.replace(**options)
        changed._unused.append(method)  # noqa: SLF001 - its own class
        weakref.finalize(changed, self._dropped.extend, changed._unused)  # noqa: SLF001 - its own
        return changed

    def with_model(self, model: Any) -> Self:
        """This chain with another model."""
        return self._derive("with_model", model=model)

    def with_prompt(self, prompt: str) -> Self:
        """This chain with a task for runs that are given none."""
        return self._derive("with_prompt", prompt=prompt)

    def with_retriever(self, retriever: Retriever) -> Self:
        """This chain with one more retriever."""
        return self._derive("with_retriever", retrievers=(*self.resources.retrievers, retriever))

    def validate_with(self, *validators: ValidatorLike) -> Self:
        """This chain with more validators."""
        return self._derive("validate_with", validators=(*self.resources.validators, *validators))

    def improve_with(self, *critics: CriticSpec) -> Self:
        """This chain with more critics; the first given replace the default ones."""
        return self._derive(
            "improve_with", critics=(*(self.options.get("critics") or ()), *critics)
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Never:
            raise no_attribute("Chain", name)

    async def run(
        self, prompt: str = "", *, text: str = "", listen: Listener | None = None
    ) -> RunResult:
        """Refine a text, or write one, until the run is done or waits for its caller.

        Args:
            prompt: The task in words; without a text it is what is written.
            text: The text to improve: version 0, which is kept unless something better is found.
            listen: Gets each event as it happens.

        Returns:
            The best version so far, the verdicts on it and why the run stopped. A provider that
            fails is a result with status `failed`, not an exception.

        Raises:
            ConfigurationError: There is nothing to do, or the text or the chain is not usable.
            StorageError: The store failed.
        """
        return await (await self.start(prompt, text=text)).work(listen)

    def run_sync(self, prompt: str = "", *, text: str = "") -> RunResult:
        """Like `run`, for code that cannot await; also from inside a running event loop."""
        return run_blocking(lambda: self.run(prompt, text=text))

    async def run_with_recovery(
        self,
        prompt: str = "",
        *,
        text: str = "",
        listen: Listener | None = None,
        most: int = 5,
    ) -> RunResult:
        """Like `run`, but when a run fails it goes on in the way that suits the failure.

        What failed decides: wait and ask again, ask with a shorter context or with fewer calls at
        a time, write the version anew, or go on without a critique. Each decision is put on record.

        Args:
            prompt: As for `run`.
            text: As for `run`.
            listen: As for `run`.
            most: Recoveries of one run.

        Returns:
            As `run`; with status `failed` when nothing helped or nothing can.
        """
        return await (await self.start(prompt, text=text)).work_with_recovery(listen, most=most)

    async def stream(self, prompt: str = "", *, text: str = "") -> AsyncGenerator[ChainEvent]:
        """Like `run`, yielding the events; the last one carries the run as it ended.

        A stream that is closed before its end cancels the run.
        """
        handle = await self.start(prompt, text=text)
        send, receive = anyio.create_memory_object_stream[ChainEvent]()
        scope = anyio.CancelScope()

        async def work() -> None:
            with scope, send:
                await handle.work(send.send)

        # No task group: a generator may be closed by another task than the one that has used it.
        task = asyncio.create_task(work())
        with receive:
            try:
                async for event in receive:
                    yield event
                await task
            finally:
                scope.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([task])
                if not task.cancelled():
                    task.exception()  # raised above, or the stream was closed

    async def start(
        self, prompt: str = "", *, text: str = "", origin: Run | None = None, run_id: str = ""
    ) -> RunHandle:
        """Store a new run; its handle does the work.

        Args:
            prompt: As for `run`.
            text: As for `run`.
            origin: The run that it branches off.
            run_id: Its id, for a caller that knows it again; by default a random one.

        Raises:
            ConfigurationError, StorageError: As for `run`.
            VersionConflict: There is a run with that id.
        """
        self._unused.clear()
        if self._dropped:
            method = self._dropped[0]
            note = f"what {method}() returned was dropped: chains never change, so keep it"
            warnings.warn(f"{note}, as in chain = chain.{method}(...)", stacklevel=2)
        prompt = check_text(prompt or self.options.get("prompt", ""), "prompt")
        if not (check_text(text).strip() or prompt.strip()):
            raise ConfigurationError("there is no text and no prompt", "give one of them")
        if not text.strip():
            check_can_write(self.config, self.resources)
        parts = await build_parts(self.config, self.resources)
        remembered: tuple[str, ...] = ()
        if runs := self.options.get("remember", 0):
            remembered = await lessons_of_similar_runs(self.store, prompt or text, runs=runs)
        started = Started(
            run_id=run_id or new_run_id(),
            prompt=prompt,
            config=self.config,
            frame_key=new_frame_key(),
            form=FORM,
            prompts=PROMPTS_VERSION,
            mends=True,
            branch_of=None if origin is None else origin.run_id,
            tags=self.options.get("tags", ()),
            remembered=remembered,
        )
        run = await new_run(self.resources, started, text, origin=origin, is_known=bool(run_id))
        return RunHandle(parts, run)

    async def branch(self, run_id: str, *, listen: Listener | None = None) -> RunResult:
        """Start a new run from the best version of another one, under this chain's configuration.

        The other run stays as it is; the new one names it as `branch_of`.

        Raises:
            ThoughtNotFound: There is no such run.
            ConfigurationError: As for `run`.
        """
        origin = await self.store.load(run_id)
        text = RunResult(run=origin).text
        return await (await self.start(origin.prompt, text=text, origin=origin)).work(listen)

    async def resume(
        self,
        run_id: str,
        *,
        listen: Listener | None = None,
        parting: CancelEntry = cancellation,
        reopen: bool = True,
    ) -> RunResult:
        """Take over a run that this process may not have started, where its last entry left it.

        After a kill no answer that is on record is asked for again; after a failure the phase that
        failed asks anew. A run that is done stays as it is, and one that waits for its caller goes
        on waiting.

        Args:
            run_id: The run.
            listen: Gets each event as it happens.
            parting: As for `RunHandle.work`.
            reopen: True to go on with a run that has failed, or that was stopped on purpose.

        Raises:
            ThoughtNotFound: There is no such run.
            ConfigurationError: It was started with another configuration; see `branch`.
        """
        run, fence = await self._load(run_id), 0
        if not _is_settled(run, reopen):
            fence = await self.store.claim(run_id)
            run = await self._load(run_id)  # as it is now that no other process can go on with it
        if _is_settled(run, reopen):
            return RunResult(run=run, warnings=self.store.degraded)
        return await (await self._take_over(run, fence)).work(listen, parting)

    async def submit(
        self,
        run_id: str,
        parent_id: str,
        text: str = "",
        *,
        accept: bool = False,
        reason: str | None = None,
        listen: Listener | None = None,
        interrupted: bool = False,
    ) -> Submission:
        """Take the caller's version into a run that waits for it.

        The same submission made twice is taken once and answered twice.

        Args:
            run_id: The run.
            parent_id: The version that was revised.
            text: The revision. A fence around it all, a chat preface and the like are taken off.
            accept: True to end the run with the text as it is, which declines what is left.
            reason: The caller's reason for what the revision changes against the input, and for the
                issues that it leaves. Without a text it answers for the version handed in last.
            listen: Gets each event as it happens.
            interrupted: True when it is known that no process is at work on this submission,
                although it was begun.

        Returns:
            Whether the version was accepted, why, and the run after it.

        Raises:
            ThoughtNotFound: There is no such run.
            StaleRevision: The version was written against another than the current champion.
            ConfigurationError: The run does not wait for a revision, or the text is not usable.
        """
        check_submission(text, accept=accept, reason=reason)
        run = await self._load(run_id)
        if run.status == "running" and not interrupted:
            run = await settled(self.store, run)
        if (new := revision(run, parent_id, text, accept=accept, reason=reason)) is None:
            run = await accept_text(self.store, run, parent_id, reason or "")
            return Submission.taken(run, self.store.degraded)
        run, draft = await take_in(self.store, run, parent_id, *new, declined=reason)
        fence = 0
        if draft.id not in run.decisions:
            fence = await self.store.claim(run_id)
            # Another process may have judged or stopped it meanwhile.
            run = await self._load(run_id)
            run, _ = await take_in(self.store, run, parent_id, *new, declined=reason)
        if draft.id in run.decisions:
            return Submission.of(run, draft.id, self.store.degraded)
        # A caller that leaves meanwhile may come back: what it submitted stays open.
        result = await (await self._take_over(run, fence)).work(listen, lambda: None)
        return Submission.of(result.run, draft.id, result.warnings)

    async def replay(self, run_id: str) -> Replay:
        """Go through a finished run again, from its record alone: no provider is asked.

        Answers of models come from the journal, and so do versions and opinions that no journal can
        see; everything else is computed anew, up to what a person decided. Nothing is stored.

        Returns:
            The run as it came out, and every difference from the one on record.

        Raises:
            ThoughtNotFound: There is no such run.
            ConfigurationError: It is not finished, or was started with another configuration.
        """
        return await replay(
            self.resources, await without_overrides(self.store, await self._load(run_id))
        )

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[ChainEvent]:
        """The events of a run that this process or another works on.

        Those of its past come first; it ends with a run that is finished, and waits for that.

        Args:
            run_id: The run.
            after: The number of entries of its past to leave out.

        Raises:
            ThoughtNotFound: There is no such run.
        """
        return follow_run(self.store, run_id, after=after)

    async def cancel(self, run_id: str) -> RunResult:
        """Stop a run, wherever it is worked on, and keep its best version.

        Raises:
            ThoughtNotFound: There is no such run.
        """
        return await cancel_run(self.store, run_id)

    def get_performance_summary(self) -> dict[str, Any]:
        """The time that this chain's runs have taken, in seconds, as plain data for JSON.

        `total_time`, `model_time`, `validation_time` and so on are wall-clock times: what ran in
        parallel is not added up.
        """
        return self.monitor.summary()

    def get_performance_bottlenecks(self, limit: int = 5) -> list[tuple[str, float]]:
        """The components that took most wall-clock time, with their seconds, longest first."""
        return self.monitor.bottlenecks(limit)

    async def _take_over(self, run: Run, fence: int) -> RunHandle:
        # Once a run is handed over, its host is asked no more.
        parts = await build_parts(self.config, self.resources, without_host=run.handed_over)
        return RunHandle(parts, run.reopened(), fence=fence)

    async def _load(self, run_id: str) -> Run:
        self._unused.clear()
        run = await end_if_older(self.store, await self.store.load(run_id))
        # One of an older form has ended, and may have had options that are gone.
        if run.form == FORM and run.config.fingerprint != self.config.fingerprint:
            raise ConfigurationError(
                f"run {run_id!r} was started with another configuration",
                "resume it with the chain that started it, or branch off a new run",
            )
        return run


def _is_settled(run: Run, reopen: bool) -> bool:
    """True for a run that does not continue by itself."""
    goes_on = reopen or run.status == "running" or is_interrupted(run)
    return run.status in {"done", "needs_revision"} or not goes_on


def create_pydantic_chain(
    agent: "Agent[Any, Any]",
    validators: Iterable[ValidatorLike] = (),
    critics: CriticSpec | Iterable[CriticSpec] | None = None,
    **options: Unpack[CommonOptions],
) -> Chain:
    """The chain in which a PydanticAI agent writes, with its own instructions and tools.

    Args:
        agent: Its tool calls are recorded in each Thought.
        validators: The validators that a text must pass.
        critics: The critics; `self_refine` by the agent's model when None.
        **options: As for `Chain`.
    """
    return Chain(model=agent, validators=validators, critics=critics, **options)
