"""The critique phase: every critic on every version that is not compared yet."""

from collections.abc import Sequence
from functools import partial

from sifaka._internal.naming import unique
from sifaka.calls.concurrency import fan_out
from sifaka.calls.context import Calls
from sifaka.chain.degradation import place, shortened
from sifaka.chain.resources import Parts
from sifaka.chain.stop_rules import attempts, twin
from sifaka.critics.execution import run_critics
from sifaka.errors import CriticError
from sifaka.models import CALLER
from sifaka.record.entries import Critiqued
from sifaka.record.results import CriticFeedback
from sifaka.record.run import Run
from sifaka.record.thought import Thought


def to_be_heard(parts: Parts, run: Run) -> bool:
    """Whether critics look at the versions; nobody needs to know of the last one under `last`."""
    if not parts.critics or not any(thought.text.strip() for thought in run.undecided):
        return False
    final = attempts(run) >= run.config.max_iterations
    return not (run.config.policy == "last" and final and len(run.thoughts) > 1)


async def hear_critics(parts: Parts, calls: Calls, run: Run) -> list[Critiqued]:
    """What all critics say of the versions, all at once.

    Raises:
        CriticError: Every critic of every version abstained, although there was room for calls
            and the caller does not stand in for models that fail.
        StorageError: An answer could not be put on record.
    """
    versions = run.undecided
    with calls.active(), calls.monitor.measure("phase", "critique"):
        branches = {
            place(run, version.iteration): partial(_feedback, parts, calls, run, version)
            for version in versions
        }
        heard = await fan_out(branches, calls_each=0)
    said = [feedback for each in heard for feedback in each]
    goes_on = _left_out(run) or CALLER in run.config.fallback_models
    if _failed(said) and not calls.ledger.exhausted() and not goes_on:
        raise _silence(said)
    return [
        Critiqued(thought_id=version.id, feedback=feedback)
        for version, feedback in zip(versions, heard, strict=True)
    ]


async def _feedback(
    parts: Parts, calls: Calls, run: Run, version: Thought
) -> tuple[CriticFeedback, ...]:
    same = twin(run, version.text, before=version)
    if same is not None:
        return same.critic_feedback  # it is turned down anyway
    if not version.text.strip():
        return ()
    if _left_out(run):
        return tuple(
            CriticFeedback.abstain(name, "left out after a failure")
            for name in unique(critic.name for critic in parts.critics)
        )
    return await run_critics(
        parts.critics, shortened(run, version), calls, deadline=run.config.critic_deadline
    )


def _failed(said: Sequence[CriticFeedback]) -> bool:
    """Whether all abstained, and none of them because the budget has no room for its calls."""
    return bool(said) and all(f.status == "abstained" and "limit" not in f.details for f in said)


def _silence(said: Sequence[CriticFeedback]) -> CriticError:
    """The error for critics that all abstained; with the code that all of them failed with."""
    reasons = "; ".join(f"{feedback.critic}: {feedback.reason}" for feedback in said)
    codes = {feedback.details.get("code") for feedback in said}
    waits = [w for f in said if isinstance(w := f.details.get("retry_after"), float | int)]
    return CriticError(
        f"every critic abstained: {reasons}",
        code=str(code) if len(codes) == 1 and (code := codes.pop()) else None,
        retry_after=max(waits, default=None),
    )


def _left_out(run: Run) -> bool:
    """Whether it was decided after a failure to go on without the critics of these versions."""
    latest = run.undecided[-1].id
    return any(
        r.strategy == "skip" and (r.thought_id, r.phase) == (latest, run.reached)
        for r in run.recoveries
    )
