"""The chain: a configured refinement, and its runs."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any

import anyio

from sifaka._internal.blocking import run_blocking
from sifaka.calls.context import Calls, new_frame_key
from sifaka.calls.ledger import Ledger
from sifaka.chain.cancellation import Parting, cancel_run, cancellation, is_interrupted
from sifaka.chain.configuration import ConfiguredChain
from sifaka.chain.engine import Engine
from sifaka.chain.follow import follow_run
from sifaka.chain.inherited import inheriting
from sifaka.chain.recall import lessons_of_similar_runs
from sifaka.chain.recovery import next_plan, recovered, unless_recovered
from sifaka.chain.replay import Replay, replay
from sifaka.chain.resources import Parts
from sifaka.chain.result import RunResult
from sifaka.chain.retrieval import first_version
from sifaka.chain.review import Review
from sifaka.chain.submission import Submission, settled, take_in
from sifaka.chain.verification import Hear, verified
from sifaka.critics.execution import run_critics
from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.record.claims import CheckOptions, ClaimReport
from sifaka.record.entries import Drafted, RunStatus, Started, Stopped
from sifaka.record.events import ChainEvent
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Document, Thought
from sifaka.record.usage import Usage
from sifaka.text.input import check_text

Listener = Callable[[ChainEvent], Awaitable[None]]
_PARTING_SECONDS = 5.0
"""How long a run that is given up as it begins may take to put that on record."""
_SETTLED: frozenset[RunStatus] = frozenset({"done", "needs_revision"})
"""A run in such a state is not gone on with by itself."""


class Chain(ConfiguredChain):
    """A configured refinement: generate, validate, critique, keep the best, and again.

    One chain serves any number of runs at the same time; see `ChainOptions` for its options.
    """

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
        with self.monitor.measure("run", "run", run_id=engine.run.run_id):
            async with aclosing(self._recorded(engine)) as events:
                async for event in events:
                    yield event

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
        engine = await self._start(prompt, text)
        result = await self._work(engine, unless_recovered(listen, left=most))
        for left in range(most - 1, -1, -1):
            plan = next_plan(result.run)
            if plan is None:
                break
            await anyio.sleep(plan.wait_seconds)
            recovery = recovered(result.run, plan)
            run = result.run.reopened()
            engine = Engine(self._parts(), run, recovery=recovery, predecessor=engine)
            result = await self._work(engine, unless_recovered(listen, left=left))
        return result

    def run_sync(self, prompt: str = "", *, text: str = "") -> RunResult:
        """Like `run`, for code that cannot await; also from inside a running event loop."""
        return run_blocking(lambda: self.run(prompt, text=text))

    async def start(self, prompt: str = "", *, text: str = "") -> Run:
        """Store a new run without working on it; `resume` does the work.

        Raises:
            ConfigurationError: As for `run`.
        """
        return (await self._start(prompt, text)).run

    async def resume(
        self,
        run_id: str,
        *,
        listen: Listener | None = None,
        parting: Parting = cancellation,
        reopen: bool = True,
    ) -> RunResult:
        """Go on with a run where its last stored entry left it.

        After a kill no answer that is on record is asked for again; after a failure the phase that
        failed asks anew. A run that is done stays as it is, and one that waits for its caller goes
        on waiting.

        Args:
            run_id: The run.
            listen: Is told each event as it happens.
            parting: Is asked, when this work is cancelled, what to put on record; None leaves the
                run open for somebody else.
            reopen: Whether to go on with a run that has failed, or that somebody has stopped.

        Raises:
            ThoughtNotFound: There is no such run.
            ConfigurationError: It was started with another configuration; see `branch`.
        """
        run, fence = await self._own(run_id), 0
        if not _is_settled(run, reopen):
            fence = await self.store.claim(run_id)
            run = await self._own(run_id)  # as it is now that nobody else can go on with it
        if _is_settled(run, reopen):
            return RunResult(run=run, warnings=self.store.degraded)
        engine = Engine(self._parts_of(run), run.reopened(), fence=fence)
        return await self._work(engine, listen, parting)

    async def branch(self, run_id: str, *, listen: Listener | None = None) -> RunResult:
        """Start a new run from the best version of another one, under this chain's configuration.

        The other run stays as it is; the new one names it as `branch_of`.

        Raises:
            ThoughtNotFound: There is no such run.
            ConfigurationError: As for `run`.
        """
        origin = await self.store.load(run_id)
        text = RunResult(run=origin).text
        engine = await self._start(origin.prompt, text, origin=origin)
        return await self._work(engine, listen)

    async def replay(self, run_id: str) -> Replay:
        """Go through a finished run again, from its record alone: no provider is asked.

        Answers of models come from the journal, and so do the versions of writers and the opinions
        of critics that no journal can see; everything else is computed anew. Nothing is stored.

        Returns:
            The run as it came out, and every difference from the one on record.

        Raises:
            ThoughtNotFound: There is no such run.
            ConfigurationError: It is not finished, or was started with another configuration.
        """
        return await replay(self, await self._own(run_id))

    async def submit(
        self,
        run_id: str,
        parent_id: str,
        text: str,
        *,
        listen: Listener | None = None,
        interrupted: bool = False,
    ) -> Submission:
        """Take the caller's version into a run that waits for it.

        The same submission made twice is taken once and answered twice.

        Args:
            run_id: The run.
            parent_id: The version that was revised.
            text: The revision.
            listen: Is told each event as it happens.
            interrupted: Whether it is known that nobody is at work on this submission, although it
                was begun.

        Returns:
            Whether the version was accepted, why, and the run after it.

        Raises:
            ThoughtNotFound: There is no such run.
            StaleRevision: The version was written against another than the current champion.
            ConfigurationError: The run does not wait for a revision, or the text is not usable.
        """
        if not check_text(text).strip():
            raise ConfigurationError("the revision is empty", "submit the complete text")
        run = await self._own(run_id)
        if run.status == "running" and not interrupted:
            run = await settled(self.store, run)
        run, draft = await take_in(self.store, run, parent_id, text)
        fence = 0
        if draft.id not in run.decisions:
            fence = await self.store.claim(run_id)
            # As it is now that nobody else can go on with it: others may have judged or stopped it.
            run, _ = await take_in(self.store, await self._own(run_id), parent_id, text)
        if draft.id in run.decisions:
            return Submission.of(run, draft.id, self.store.degraded)
        # A caller that leaves meanwhile may come back: what it submitted stays open.
        engine = Engine(self._parts_of(run), run.reopened(), fence=fence)
        with self.monitor.measure("run", "run", run_id=run_id):
            await _listened(engine.drive(), listen)
        return Submission.of(engine.run, draft.id, engine.warnings)

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[ChainEvent]:
        """The events of a run that anybody works on, in this process or another.

        Those of its past come first; it ends with a run that is finished, and waits for that.

        Args:
            run_id: The run.
            after: How many entries of its past to leave out.

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

    async def critique(self, thought: Thought, *, frame_key: str | None = None) -> Review:
        """What the chain's critics say about a thought; nothing is stored.

        Args:
            thought: What to judge.
            frame_key: What the marks around quoted material in prompts are made with, a secret of
                whoever asks: the same one makes the same questions. A new one when None.
        """
        given = (*thought.pre_generation_context, *thought.post_generation_context)
        parts = self._parts(documents=bool(given))
        ledger = Ledger(self.budget, Usage())
        calls = Calls(
            ledger=ledger,
            breakers=self.resources.breakers,
            monitor=self.monitor,
            frame_key=frame_key or new_frame_key(),
        )
        async with parts.connected():
            feedback = await run_critics(
                parts.critics, thought, calls, deadline=self.settings.critic_deadline
            )
        return Review(feedback=feedback, usage=ledger.spent)

    async def verify(
        self,
        text: str = "",
        *,
        claims: Sequence[str] | None = None,
        documents: Sequence[Document] = (),
        options: CheckOptions | None = None,
        frame_key: str | None = None,
        hear: Hear | None = None,
    ) -> ClaimReport:
        """What the evidence says about the claims of a text, or about given ones; stores nothing.

        Args:
            text: Whose claims to find, where none are given.
            claims: What to check; those that stand in `text` verbatim get their place in it.
            documents: Evidence that is at hand. What is searched besides, `options` say.
            options: How to go about it.
            frame_key: As for `critique`.
            hear: Is told what was done, in a line for a person, each time somebody has answered.

        Returns:
            A verdict for each claim. What nobody could judge, or what there was no budget for, is
            `unverified`.

        Raises:
            ConfigurationError: There is nothing to check or nothing to search, an adapter is
                unknown, or nothing could fit the options.
        """
        return await verified(
            self._parts(documents=True),
            self.adapters,
            text,
            claims=claims,
            documents=documents,
            options=options,
            budget=self.budget,
            frame_key=frame_key,
            hear=hear,
        )

    def get_performance_summary(self) -> dict[str, Any]:
        """Where the time of this chain's runs went, in seconds, as plain data for JSON.

        `total_time`, `model_time`, `validation_time` and so on are wall-clock times: what ran in
        parallel is not added up.
        """
        return self.monitor.summary()

    def get_performance_bottlenecks(self, limit: int = 5) -> list[tuple[str, float]]:
        """The components that took most wall-clock time, with their seconds, longest first."""
        return self.monitor.bottlenecks(limit)

    async def _start(self, prompt: str, text: str, *, origin: Run | None = None) -> Engine:
        prompt = check_text(prompt or self.settings.prompt, "prompt")
        if not (check_text(text).strip() or prompt.strip()):
            raise ConfigurationError("there is no text and no prompt", "give one of them")
        if self.inquiry is not None and self.resources.researcher is None and not text.strip():
            self.adapters.chosen(self.inquiry.adapters)
        parts = self._parts()
        if not text.strip() and self.model == EDITOR:
            raise ConfigurationError(
                "the editor cannot write a text from a prompt", "give a text, or another model"
            )
        remembered: tuple[str, ...] = ()
        if self.settings.remember:
            remembered = await lessons_of_similar_runs(
                self.store, prompt or text, runs=self.settings.remember
            )
        started = Started(
            prompt=prompt,
            config=self.config,
            frame_key=new_frame_key(),
            branch_of=None if origin is None else origin.run_id,
            tags=self.settings.tags,
            remembered=remembered,
        )
        run = Run.start(started)
        entries: list[Started | Drafted] = [started]
        if text.strip():
            entries.append(await self._input(run, text, origin))
            run = run.apply(entries[-1])
        try:
            await self.store.append(run, entries, expected_version=0, fence=0)
        except anyio.get_cancelled_exc_class():
            # It may be there already, and nobody knows of it.
            with anyio.move_on_after(_PARTING_SECONDS, shield=True), suppress(SifakaError):
                await cancel_run(self.store, run.run_id)
            raise
        return Engine(parts, run)

    async def _input(self, run: Run, text: str, origin: Run | None) -> Drafted:
        """The input with the documents for it, as far as there is time to look for some."""
        ledger = Ledger(self.budget, Usage())
        first = Thought(
            prompt=run.prompt,
            text=text,
            run_id=run.run_id,
            metadata={"degraded": ("retrieval was not done in time",)},
        )
        with Calls(ledger=ledger, monitor=self.monitor).active():
            with anyio.move_on_after(ledger.seconds_left):
                first = await first_version(run, text, self.settings.retrievers)
        if origin is not None:
            first = inheriting(first, origin)
        return Drafted(thought=first, usage=Usage(seconds=ledger.spent.seconds))

    async def _work(
        self, engine: Engine, listen: Listener | None, parting: Parting = cancellation
    ) -> RunResult:
        with self.monitor.measure("run", "run", run_id=engine.run.run_id):
            await _listened(self._recorded(engine, parting), listen)
        return RunResult(run=engine.run, warnings=engine.warnings)

    async def _recorded(
        self, engine: Engine, parting: Parting = cancellation
    ) -> AsyncGenerator[ChainEvent]:
        """The engine's events; when it breaks off, the record says how."""
        try:
            async with aclosing(engine.drive()) as events:
                async for event in events:
                    yield event
        except (anyio.get_cancelled_exc_class(), GeneratorExit):  # or nobody listens any more
            if (entry := parting()) is not None:
                await engine.abandon(entry)
            raise
        except StorageError:
            raise
        # A bug stays a bug and is raised, but its run must not look as if somebody worked on it.
        except Exception as error:
            kind = type(error).__name__
            broke_off = f"the run broke off with {kind}"
            await engine.abandon(Stopped(status="failed", stop_reason="error", error=broke_off))
            raise

    def _parts_of(self, run: Run) -> Parts:
        """What a stored run is worked on with: once it is handed over, no host is bothered."""
        return self._parts(without_host=run.handed_over)

    async def _own(self, run_id: str) -> Run:
        run = await self.store.load(run_id)
        if run.config.fingerprint != self.config.fingerprint:
            raise ConfigurationError(
                f"run {run_id!r} was started with another configuration",
                "resume it with the chain that started it, or branch off a new run",
            )
        return run


def _is_settled(run: Run, reopen: bool) -> bool:
    return run.status in _SETTLED or not (reopen or run.status == "running" or is_interrupted(run))


async def _listened(events: AsyncGenerator[ChainEvent, None], listen: Listener | None) -> None:
    async with aclosing(events):
        async for event in events:
            if listen is not None:
                await listen(event)
