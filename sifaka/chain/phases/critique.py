"""The critique phase: every critic on every version that is not compared yet."""

import math
from collections.abc import Sequence
from functools import partial, reduce
from types import MappingProxyType

from sifaka._internal.naming import unique
from sifaka.calls.context import fan_out
from sifaka.chain.acceptance import contenders, decide
from sifaka.chain.phases.context import PhaseContext
from sifaka.chain.phases.generation import edit
from sifaka.chain.phases.selection import select
from sifaka.chain.recovery import place, shortened
from sifaka.chain.stop_rules import attempts, twin
from sifaka.critics.execution import run_critics
from sifaka.errors import CriticError
from sifaka.models import CALLER
from sifaka.models.prompt import LAST, with_original
from sifaka.record.entries import Critiqued, Entry
from sifaka.record.results import CriticFeedback
from sifaka.record.run import Run
from sifaka.record.thought import Thought


async def critique(context: PhaseContext) -> Sequence[Entry]:
    """Ask all critics about all versions at once that can win; without a judge, compare these too.

    Versions that critics need not see are only compared; under `last` the last one is such.

    Raises:
        CriticError: Every critic of every version abstained, although there was room for calls
            and the caller does not stand in for models that fail.
        StorageError: An answer could not be put on record.
    """
    run, parts, calls = context.recorder.run, context.parts, context.calls
    first = run.thoughts[0]
    is_new = len(run.thoughts) == 1 and run.champion is None and first.author == "input"
    if is_new and (edited := await edit(context, first)):
        return edited  # no critic is paid for what the editor mends
    final = run.config.policy == "last" and attempts(run) >= run.config.max_iterations
    worded = any(thought.text.strip() for thought in run.undecided)
    if not parts.critics or not worded or (final and len(run.thoughts) > 1):
        return await select(context)
    if (run.prompt and _is_written_first(context)) or not (versions := contenders(run)):
        return await select(context)  # it is written anew first, or none can win
    await context.tell("critique", f"asking {', '.join(critic.name for critic in parts.critics)}")
    with calls.monitor.measure("phase", "critique"):
        by_version = await fan_out(
            {place(run, each.iteration): partial(_feedback, context, each) for each in versions},
            calls_each=0,
        )
    critiqued: list[Critiqued] = []
    said: list[CriticFeedback] = []
    for version, feedback in zip(versions, by_version, strict=True):
        critiqued.append(Critiqued(thought_id=version.id, feedback=feedback))
        said += feedback
    # One whose calls the budget has no room for has not failed.
    failed = [f for f in said if f.status == "abstained" and "limit" not in f.details]
    if said and len(failed) == len(said) and not calls.ledger.exhausted():
        goes_on = _left_out(run) or CALLER in run.config.fallback_models
        if not goes_on:
            raise _silence(said)
    if parts.judge is not None and run.config.policy == "judged":
        return critiqued
    # The comparison costs nothing and follows from what is stored: one append holds both.
    return [*critiqued, *await decide(reduce(Run.apply, critiqued, run))]


def _is_written_first(context: PhaseContext) -> bool:
    """True for an input that a model is going to write anew for a task: nobody reviews that.

    Of a long one the review tells which sections are to be written.
    """
    run, writers = context.recorder.run, context.parts.writers
    original, longest = run.original, run.config.section_chars or math.inf
    if original is None or original.author != "input" or len(original.text) > longest:
        return False
    by_model = bool(writers) and writers[0] is not None
    may_write = by_model and run.config.max_iterations > 0 and not run.handed_over
    return may_write and bool(run.prompt.strip()) and run.champion is None


async def _feedback(context: PhaseContext, version: Thought) -> tuple[CriticFeedback, ...]:
    run, critics = context.recorder.run, context.parts.critics
    if not version.text.strip():
        return ()
    if len(run.thoughts) > 1:
        same = twin(run, version.text, before=version)
        if same is not None:
            return same.critic_feedback  # it is turned down anyway
        version = with_original(version, run.original)
    if run.recoveries:
        if _left_out(run):
            return tuple(
                CriticFeedback.abstain(name, "left out after a failure")
                for name in unique(critic.name for critic in critics)
            )
        version = shortened(run, version)
    tried = attempts(run) if run.thoughts[1:] else 0
    if version.author != CALLER and tried >= run.config.max_iterations:
        version = version.model_copy(
            update={"metadata": MappingProxyType({**version.metadata, LAST: True})}
        )
    deadline = run.config.critic_deadline
    return await run_critics(critics, version, context.calls, deadline=deadline)


def _silence(said: Sequence[CriticFeedback]) -> CriticError:
    """The error for critics that all abstained; with the code that all of them failed with."""
    reasons = "; ".join(f"{feedback.critic}: {feedback.reason}" for feedback in said)
    codes = {feedback.details.get("code") for feedback in said}
    waits = [w for f in said if isinstance(w := f.details.get("retry_after"), float | int)]
    return CriticError(
        f"every critic abstained: {reasons}",
        code=str(code) if len(codes) == 1 and (code := codes.pop()) else "",
        retry_after=max(waits, default=None),
    )


def _left_out(run: Run) -> bool:
    """True when a recovery has skipped the critics of these versions."""
    latest = run.undecided[-1].id
    return any(
        r.strategy == "skip" and (r.thought_id, r.phase) == (latest, run.reached)
        for r in run.recoveries
    )
