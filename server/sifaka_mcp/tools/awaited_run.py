"""Working on a run for as long as a request waits: its progress, and what to answer then."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Self, cast

import anyio
from mcp_types import CallToolResult

from sifaka.calls.host import Suspended, Unreachable
from sifaka.chain import RunResult, cancel_run, is_interrupted
from sifaka.errors import ConfigurationError, SifakaError, ThoughtNotFound, VersionConflict
from sifaka.models import HOST
from sifaka.record.entries import Called, Started
from sifaka.record.run import ChainEvent, Run
from sifaka_mcp.host.sampling import DECLINED, Exchange
from sifaka_mcp.host.session import cancel_requested, declares_tasks
from sifaka_mcp.runs.service import Result, Work, until_stopped
from sifaka_mcp.schemas.runs import Return
from sifaka_mcp.state import AppState
from sifaka_mcp.tools.answer import ToolContext, answer_with_text, state_of
from sifaka_mcp.view.progress import most_rounds

if TYPE_CHECKING:
    from sifaka.chain import Chain

_PARTING_SECONDS = 5
PATIENCE = 2.0
"""Seconds that a request which may become a task waits for its result."""
_STEPS = 6
"""Of one round: a version is written, validated and criticised, which each begins and is done."""
_SEARCHES = 6
"""Steps of one iteration of research that are reported, and of its section besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A request about a run: how long it waits for it, and how it is answered."""

    ctx: ToolContext
    state: AppState
    exchange: Exchange
    until: float
    """The moment of the loop's clock until which it waits."""
    returns: Return

    @classmethod
    def of(cls, ctx: ToolContext, seconds: float, returns: Return, *, as_task: bool = True) -> Self:
        """A request that waits for so many seconds at most.

        One that may become a task is not kept waiting. Where the host's model may be asked, it is:
        that is done with before there is a task.
        """
        capabilities = ctx.client_capabilities
        samples = capabilities is not None and capabilities.sampling is not None
        if as_task and declares_tasks(ctx.request_context) and not samples:
            seconds = min(seconds, PATIENCE)
        return cls(
            ctx=ctx,
            state=state_of(ctx),
            exchange=Exchange.of(ctx),
            until=anyio.current_time() + seconds,
            returns=returns,
        )

    async def begin(self, chain: "Chain", prompt: str = "", *, text: str = "") -> CallToolResult:
        """Start a run and work on it.

        With an idempotency key, the run that an earlier request with the key has begun is waited
        for instead, and resumed where no process works on it.

        Raises:
            ConfigurationError: The key was sent with another request before.
            SifakaError: The tenant has as many runs in progress as may be.
        """
        state, run_id = self.state, self.exchange.keyed_run
        declined = None if run_id else await self._find_declined_run(chain, prompt, text)
        if declined is not None:
            return await self.go_on(declined)
        if run_id is None or not await _has_begun(state, chain, run_id, prompt, text):
            try:
                with state.runs.room(state.tenant):
                    handle = await chain.start(prompt, text=text, run_id=run_id or "")
            except VersionConflict:  # two requests with one key have come together
                if run_id is None or not await _has_begun(state, chain, run_id, prompt, text):
                    raise
            else:
                await RunProgress(self.ctx, handle.run).announce()
                return await self._work_on(handle.run, handle.work)
        return await self.go_on(run_id)

    async def go_on(self, run_id: str) -> CallToolResult:
        """Wait for a run that a process works on; resume one that no process works on.

        One that is over, or whose host still has time, is answered to another client as it is.

        Raises:
            ThoughtNotFound: There is no such run.
        """
        state, exchange = self.state, self.exchange
        run = await state.load(run_id)
        await RunProgress(self.ctx, run).announce()
        run = await self.after_others(run)
        if not await self._waits_for_a_worker(run):
            if run.status == "running":  # its host may still answer
                with anyio.CancelScope(deadline=self.until):
                    await until_stopped(state.store, run, RunProgress(self.ctx, run).report)
                run = await state.load(run_id)
            result = RunResult(run=run, warnings=state.store.degraded)
            return await answer_with_text(result, self.returns, ctx=self.ctx)
        # A client whose person declines tells its caller, and not the server: it comes with no
        # answers to what it was asked in the last round.
        host = exchange.host
        if exchange.in_rounds and exchange.run_id is None and run_id in state.runs_awaiting_host:
            host = Unreachable(DECLINED)
        chain = await state.chain_of(run, host=host or exchange.absent)
        return await self._work_on(run, _make_resume_work(chain, run_id), resumes=True)

    async def outcome_of(
        self, run: Run, work: Work[Result], *, queues: bool = False
    ) -> Result | None:
        """The outcome of some work on a run.

        Returns:
            The result, or None when the run goes on.

        Raises:
            SifakaError: The work failed, or the tenant has as many runs in progress as may be.
            InputRequired: The host has to be asked first.
        """
        state, ticket = self.state, self.state.ticket(run)
        state.runs_awaiting_host.discard(run.run_id)
        try:
            with ticket.heard_by(RunProgress(self.ctx, run).report):
                if await state.runs.submit(ticket, work, until=self.until, queues=queues):
                    return cast("Result | None", await ticket.wait(self.until))
                return None
        except Suspended as waiting:
            state.runs_awaiting_host.add(run.run_id)
            raise self.exchange.ask(waiting, run_id=run.run_id) from None
        except anyio.get_cancelled_exc_class():
            if not self._run_goes_on():
                await ticket.cancel()
            raise

    async def after_others(self, run: Run) -> Run:
        """The run when no process works on it any more, or when the request waits no longer.

        Raises:
            StorageError: The store failed.
        """
        state = self.state
        if run.status != "running" or not await state.runs.attended(state.key(run.run_id)):
            return run
        with anyio.CancelScope(deadline=self.until):
            await state.runs.join(state.ticket(run), RunProgress(self.ctx, run).report)
        return await state.load(run.run_id)

    async def _work_on(
        self, run: Run, work: Work[RunResult], *, resumes: bool = False
    ) -> CallToolResult:
        """The run after some work on it: its result, its state, or what the host has to be asked.

        A client that leaves before the answer has cancelled the run, unless this process is ending
        or the request has an idempotency key; one that sends word of it has in any case.
        """
        try:
            result = await self.outcome_of(run, work, queues=True)
            if resumes and result is None and not self.state.runs.stopping:
                # Another process may have been faster to go on with it.
                await self.after_others(run.reopened())
        except anyio.get_cancelled_exc_class():
            # This request may have waited for another process that works on it. If the work had not
            # begun, the record is still open.
            if not (self._run_goes_on() or self.state.runs.works_on(self.state.key(run.run_id))):
                with anyio.move_on_after(_PARTING_SECONDS, shield=True), suppress(SifakaError):
                    await cancel_run(self.state.store, run.run_id)
            raise
        if result is None:
            run = await self.state.load(run.run_id)
            result = RunResult(run=run, warnings=self.state.store.degraded)
        return await answer_with_text(result, self.returns, ctx=self.ctx)

    def _run_goes_on(self) -> bool:
        """True when a run goes on although the request for it has been cancelled."""
        key, session = self.exchange.keyed_run, self.ctx.session
        is_kept = key is not None and not cancel_requested(session).is_set()
        return is_kept or self.state.runs.stopping

    async def _find_declined_run(self, chain: "Chain", prompt: str, text: str) -> str | None:
        """The run of an earlier call that was the same, and whose questions the client declined."""
        for run_id in tuple(self.state.runs_awaiting_host) if self.exchange.in_rounds else ():
            with suppress(ThoughtNotFound):  # another tenant's
                run = await self.state.store.load(run_id)
                original_text = "" if run.original is None else run.original.text
                if (run.prompt, original_text) == (prompt, text) and run.config == chain.config:
                    return run_id
        return None

    async def _waits_for_a_worker(self, run: Run) -> bool:
        if is_interrupted(run):
            return True
        if run.status != "running" or await self.state.runs.attended(self.state.key(run.run_id)):
            return False
        asks_its_host = run.config.model == HOST and not run.handed_over
        silent = (datetime.now(UTC) - run.updated_at).total_seconds()
        is_late = silent >= self.state.host_seconds
        return self.exchange.host is not None or not asks_its_host or is_late


async def _has_begun(state: AppState, chain: "Chain", run_id: str, prompt: str, text: str) -> bool:
    """True when the same request has begun this run.

    Raises:
        ConfigurationError: Another request has.
    """
    try:
        run = await state.store.load(run_id)
    except ThoughtNotFound:
        return False
    original, tags = run.original, chain.options.get("tags", ())
    original_text = original.text if original is not None and original.author == "input" else ""
    sent = (prompt, text if text.strip() else "", tags, chain.config.fingerprint)
    if (run.prompt, original_text, run.tags, run.config.fingerprint) != sent:
        raise ConfigurationError(
            "this idempotency key was sent with another request before",
            "send a new key with a new request",
        )
    return True


def _make_resume_work(chain: "Chain", run_id: str) -> Work[RunResult]:
    return lambda listen, parting: chain.resume(
        run_id, listen=listen, parting=parting, reopen=False
    )


class RunProgress:
    """Reports the steps of a run as progress of a request, and about how many there will be.

    Most runs need fewer: the end is then reached in one step. One that needs more has them too.

    Args:
        ctx: The request.
        run: As it is at first.
    """

    def __init__(self, ctx: ToolContext, run: Run) -> None:
        self._ctx, self._run_id, self._reached = ctx, run.run_id, 0
        self._total = _STEPS * (most_rounds(run.config) + 1) + 2
        if (inquiry := run.config.inquiry) is not None:
            sections = 1 if inquiry.mode == "iterative" else inquiry.max_sections
            self._total += _SEARCHES * sections * (inquiry.max_iterations + 1)

    async def announce(self) -> None:
        """Report the id of the run before anything else, so that it can be found."""
        await self._ctx.report_progress(0, self._total, f"run {self._run_id}")

    async def report(self, event: ChainEvent) -> None:
        """Report an event that is a step, unless it was reported already."""
        is_end = event.phase == "stop"
        reached = self._total if is_end else self._reached + 1
        if reached == self._reached or isinstance(event.entry, Started | Called):
            return  # the entries belong to no phase
        self._reached = reached
        self._total = max(self._total, reached + (not is_end))
        part = "" if event.section is None else f", section {event.section + 1}"
        message = f"{event.phase}{part}: {event.message}"
        await self._ctx.report_progress(reached, self._total, message)


def counter(ctx: ToolContext) -> Callable[[str], Awaitable[None]]:
    """Reports lines about work that is no run, of which nobody knows how many there will be."""
    numbers = count(1)
    return lambda line: ctx.report_progress(next(numbers), None, line)
