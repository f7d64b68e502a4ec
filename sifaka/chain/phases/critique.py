"""The phases that judge versions not compared yet: documents, verdicts, critics, the decision."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

import anyio

from sifaka._internal.naming import unique
from sifaka.calls.context import Calls, fan_out, scope
from sifaka.chain.acceptance import contenders, decide
from sifaka.chain.creation import retrieve
from sifaka.chain.findings import findings_of, of_input
from sifaka.chain.phases import PhaseContext
from sifaka.chain.phases.generation import edit
from sifaka.chain.recovery import place, shortened
from sifaka.chain.stop_rules import attempts, twin
from sifaka.critics.execution import run_critics
from sifaka.errors import BudgetExceeded, CriticError
from sifaka.models import CALLER
from sifaka.models.prompt import LAST, with_original
from sifaka.record.claims import verdicts_in
from sifaka.record.entries import Critiqued, Entry, Retrieved, Validated
from sifaka.record.results import CriticFeedback, Findings, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget
from sifaka.validators.execution import run_validators


async def validate(context: PhaseContext) -> Sequence[Entry]:
    """Run all validators on each version.

    They finish even when the time is up: every text that is returned has been validated. Those
    that ask a model leave to the critics the calls that these need.

    Raises:
        StorageError: An answer could not be put on record.
        Suspended: Answers of the host are needed.
    """
    run, validators = context.recorder.run, context.parts.validators
    if context.parts.checker is not None:  # another process may have asked it about the run
        on_record = (
            each.details
            for thought in run.thoughts
            for each in (*thought.validation_results.values(), *thought.critic_feedback)
        )
        verdicts = [verdict for details in on_record for verdict in verdicts_in(details)]
        await context.parts.checker.remember(verdicts)
    if validators:
        await context.tell("validate", f"{len(validators)} validators")
    original = run.original.text if run.original else None
    validated: list[Validated] = []
    calls = _reserve_critics(context) if validators or context.parts.judge_model else context.calls
    with calls.active(), calls.monitor.measure("phase", "validate"):
        for version in run.drafted:
            results, findings = dict[str, ValidationResult](), Findings()
            with scope(place(run, version.iteration)):
                if validators:
                    results = await run_validators(validators, version, original)
                if version.author != "input":
                    findings = await findings_of(run, version)
                elif run.prompt:
                    findings = await of_input(run, version)
            validated.append(Validated(thought_id=version.id, results=results, findings=findings))
    return validated


def _reserve_critics(context: PhaseContext) -> Calls:
    """The surroundings without the calls that the critics of the versions will make at least."""
    calls = context.calls
    left = calls.ledger.calls_left
    if math.isinf(left):
        return calls
    versions, critics = context.recorder.run.drafted, context.parts.critics
    kept = sum(critic.calls(version.text) for version in versions for critic in critics)
    if not kept:
        return calls
    return replace(calls, ledger=calls.ledger.part(Budget(max_calls=max(0, int(left) - kept))))


async def retrieve_for_critics(context: PhaseContext) -> Sequence[Entry]:
    """Find documents for the versions that are not compared yet.

    Raises:
        BudgetExceeded: The time is over.
    """
    await context.tell("retrieve", "looking for documents for the critics")
    found: list[Retrieved] = []
    with anyio.move_on_after(context.calls.ledger.seconds_left):
        for version in context.recorder.run.drafted:
            documents, degraded = await retrieve(context.parts.resources.retrievers, version.text)
            found.append(Retrieved(thought_id=version.id, documents=documents, degraded=degraded))
        return found
    raise BudgetExceeded("seconds")


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
        return edited  # no critic is paid for what the editor corrects
    final = run.config.policy == "last" and attempts(run) >= run.config.max_iterations
    worded = any(thought.text.strip() for thought in run.undecided)
    if not parts.critics or not worded or (final and len(run.thoughts) > 1):
        return await select(context)
    if (run.prompt and _is_written_first(context)) or not (versions := contenders(run)):
        return await select(context)  # it is written anew first, or none can win
    await context.tell("critique", f"asking {', '.join(critic.name for critic in parts.critics)}")
    with calls.monitor.measure("phase", "critique"):
        by_version = await fan_out(
            {place(run, each.iteration): partial(_ask_critics, context, each) for each in versions},
            calls_each=0,
        )
    critiqued = [
        Critiqued(thought_id=version.id, feedback=feedback)
        for version, feedback in zip(versions, by_version, strict=True)
    ]
    opinions = [each for feedback in by_version for each in feedback]
    # One whose calls the budget has no room for has not failed.
    failed = [f for f in opinions if f.status == "abstained" and "limit" not in f.details]
    if (
        opinions
        and len(failed) == len(opinions)
        and not (calls.ledger.exhausted() or _has_skip(run) or CALLER in run.config.fallback_models)
    ):
        raise _build_no_answer_error(opinions)
    if parts.judge is not None and run.config.policy == "judged":
        return critiqued
    # The comparison costs nothing and follows from what is stored: one append holds both.
    # So do the calls of the critics, which show what a model is able to.
    return [*critiqued, *await decide(reduce(Run.apply, critiqued, context.recorder.run))]


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


async def _ask_critics(context: PhaseContext, version: Thought) -> tuple[CriticFeedback, ...]:
    run, critics = context.recorder.run, context.parts.critics
    if not version.text.strip():
        return ()
    if len(run.thoughts) > 1:
        same = twin(run, version.text, before=version)
        if same is not None:
            return same.critic_feedback  # it is rejected anyway
        version = with_original(version, run.original)
    if run.recoveries:
        if _has_skip(run):
            return tuple(
                CriticFeedback.abstain(name, "left out after a failure")
                for name in unique(critic.name for critic in critics)
            )
        version = shortened(run, version)
    tried = attempts(run) if run.thoughts[1:] else 0
    if version.author != CALLER and tried >= run.config.max_iterations:
        version = version.with_metadata({LAST: True})
    return await run_critics(critics, version, context.calls, deadline=run.config.critic_deadline)


def _build_no_answer_error(abstained: Sequence[CriticFeedback]) -> CriticError:
    """The error for critics that all abstained; with the code that all of them failed with."""
    reasons = "; ".join(f"{feedback.critic}: {feedback.reason}" for feedback in abstained)
    codes = {feedback.details.get("code") for feedback in abstained}
    waits = [w for f in abstained if isinstance(w := f.details.get("retry_after"), float | int)]
    return CriticError(
        f"every critic abstained: {reasons}",
        error_code=str(code) if len(codes) == 1 and (code := codes.pop()) else "",
        retry_after=max(waits, default=None),
    )


def _has_skip(run: Run) -> bool:
    """True when a recovery has skipped the critics of these versions."""
    latest = run.undecided[-1].id
    return any(
        r.strategy == "skip" and (r.thought_id, r.phase) == (latest, run.reached)
        for r in run.recoveries
    )


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
