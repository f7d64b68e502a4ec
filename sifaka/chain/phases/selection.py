"""The selection phase, and the end of a run with its last look back at the original."""

from collections.abc import Sequence

from sifaka.chain.acceptance import decide
from sifaka.chain.final_comparison import look_back, needs_look_back, unchecked
from sifaka.chain.phases.context import PhaseContext
from sifaka.chain.stop_rules import finished
from sifaka.errors import BudgetExceeded, SifakaError, code_of
from sifaka.record.entries import Entry, RunStatus, Stopped, StopReason


async def select(context: PhaseContext) -> Sequence[Entry]:
    """Decide on the versions that are not compared yet.

    Raises:
        BudgetExceeded: The time is over before the judge has answered.
    """
    run, judge, calls = context.recorder.run, context.parts.judge, context.calls
    if judge is None or run.config.policy != "judged":
        return await decide(run)
    if run.champion is not None:
        await context.tell("select", "asking the judge")
    with calls.monitor.measure("phase", "select"), calls.ledger.within_time():
        return await decide(run, judge)
    raise BudgetExceeded("seconds")


async def end(context: PhaseContext, *, status: RunStatus, reason: StopReason) -> Sequence[Entry]:
    """Stop; where a version replaces the input by opinions alone, only after the look back."""
    run, judge, calls = context.recorder.run, context.parts.judge, context.calls
    if judge is None or not needs_look_back(run):
        return (Stopped(status=status, stop_reason=reason),)
    await context.tell("select", "comparing the best version with the input")
    anchored = unchecked(run, status, reason)
    with calls.monitor.measure("phase", "select"), calls.ledger.within_time():
        anchored = await look_back(run, judge, status, reason)
    return (anchored,)


async def conclude(context: PhaseContext) -> Sequence[Entry]:
    """Stop after the look back."""
    ending = context.recorder.run.ending
    assert ending is not None, "the phase `anchored` has its entry"
    reason = ending.stop_reason
    if reason == "passed" and finished(context.recorder.run) != "passed":
        reason = "stalled"  # the version that passed has lost against the original
    return (Stopped(status=ending.status, stop_reason=reason),)


async def fail(_: PhaseContext, *, error: SifakaError) -> Sequence[Entry]:
    """Stop because of an error."""
    return (stopped_by(error, "failed", "error"),)


def stopped_by(error: SifakaError | None, status: RunStatus, reason: StopReason) -> Stopped:
    """The entry for a run that an error has stopped, if there is one."""
    if error is None:
        return Stopped(status=status, stop_reason=reason)
    return Stopped(
        status=status,
        stop_reason=reason,
        error=str(error),
        code=code_of(error),
        retry_after=error.retry_after,
    )
