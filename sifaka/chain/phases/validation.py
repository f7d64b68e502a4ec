"""The validation phase: verdicts on the versions that are not compared yet."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sifaka.calls.context import Calls
from sifaka.calls.journal import scope
from sifaka.chain.findings import findings_of, of_input
from sifaka.chain.phases.context import PhaseContext
from sifaka.chain.recovery import place
from sifaka.record.claims import verdicts_in
from sifaka.record.entries import Entry, Validated
from sifaka.record.results import Findings, ValidationResult
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget
from sifaka.validators.execution import run_validators

if TYPE_CHECKING:
    from sifaka.evidence.claims import EvidenceChecker


async def validate(context: PhaseContext) -> Sequence[Entry]:
    """Run all validators on each version.

    They finish even when the time is up: every text that is returned has been validated. Those
    that ask a model leave to the critics the calls that these need.

    Raises:
        StorageError: An answer could not be put on record.
        Suspended: Answers of the host are needed.
    """
    run, validators = context.recorder.run, context.parts.validators
    if context.parts.checker is not None:
        await _remember(context, context.parts.checker)
    if validators:
        await context.tell("validate", f"{len(validators)} validators")
    original = run.original.text if run.original else None
    validated: list[Validated] = []
    calls = _without_critics(context) if validators or context.parts.judge_model else context.calls
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


def _without_critics(context: PhaseContext) -> Calls:
    """The surroundings without the calls that the critics of the versions will make at least."""
    calls = context.calls
    left = calls.ledger.calls_left
    if math.isinf(left):
        return calls
    versions, critics = context.recorder.run.drafted, context.parts.critics
    kept = sum(critic.calls(version.text) for version in versions for critic in critics)
    if not kept:
        return calls
    part = calls.ledger.part(Budget(max_calls=max(0, int(left) - kept)))
    return replace(calls, ledger=part)


async def _remember(context: PhaseContext, checker: "EvidenceChecker") -> None:
    """Give the checker the verdicts on the run's record, which another process may have made."""
    results = [
        result for thought in context.recorder.run.thoughts for result in _details_of(thought)
    ]
    await checker.remember([verdict for details in results for verdict in verdicts_in(details)])


def _details_of(thought: Thought) -> Iterator[Mapping[str, object]]:
    """The results of validators and critics on record about a version."""
    yield from (result.details for result in thought.validation_results.values())
    yield from (feedback.details for feedback in thought.critic_feedback)
