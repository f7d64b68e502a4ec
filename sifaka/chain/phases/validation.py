"""The phases before critics: documents for the versions of a run, and verdicts on them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import anyio

from sifaka.calls.context import Calls
from sifaka.calls.journal import scope
from sifaka.calls.ledger import Ledger
from sifaka.calls.part_ledger import PartLedger
from sifaka.chain.degradation import place
from sifaka.chain.resources import Parts
from sifaka.chain.retrieval import first_version, retrieve
from sifaka.errors import BudgetExceeded
from sifaka.record.claims import verdicts_in
from sifaka.record.entries import Retrieved, Validated
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget
from sifaka.validators.execution import run_validators


async def opening(parts: Parts, calls: Calls, run: Run) -> Thought:
    """What a run without a text begins with: its task, and documents for it.

    Raises:
        BudgetExceeded: The time is over.
    """
    with calls.active(), anyio.move_on_after(calls.ledger.seconds_left):
        return await first_version(run, "", parts.retrievers)
    raise BudgetExceeded("seconds")


async def documents_for_critics(parts: Parts, calls: Calls, run: Run) -> list[Retrieved]:
    """Documents for the versions that are not compared yet.

    Raises:
        BudgetExceeded: The time is over.
    """
    found: list[Retrieved] = []
    with calls.active(), anyio.move_on_after(calls.ledger.seconds_left):
        for version in run.undecided:
            documents, degraded = await retrieve(parts.retrievers, version.text)
            found.append(Retrieved(thought_id=version.id, documents=documents, degraded=degraded))
    if len(found) < len(run.undecided):
        raise BudgetExceeded("seconds")
    return found


async def verdicts(parts: Parts, calls: Calls, run: Run) -> list[Validated]:
    """What the validators say of the versions that are not compared yet.

    They finish whatever the time: every text that is returned has been validated. Those that ask a
    model leave the calls to the critics that these need.

    Raises:
        StorageError: An answer could not be put on record.
        Suspended: Answers of the host are needed.
    """
    original = run.original.text if run.original else None
    said: list[Validated] = []
    await _remember(parts, run)
    left = replace(calls, ledger=_besides_critics(parts, calls, run))
    with left.active(), calls.monitor.measure("phase", "validate"):
        for version in run.undecided:
            with scope(place(run, version.iteration)):
                results = await run_validators(parts.validators, version, original)
            said.append(Validated(thought_id=version.id, results=results))
    return said


def _besides_critics(parts: Parts, calls: Calls, run: Run) -> Ledger:
    """The account without the calls that the critics of the versions will make at least."""
    left = calls.ledger.calls_left
    kept = sum(c.calls(version.text) for version in run.undecided for c in parts.critics)
    if not kept or math.isinf(left):
        return calls.ledger
    return PartLedger(calls.ledger, Budget(max_calls=max(0, int(left) - kept)))


async def _remember(parts: Parts, run: Run) -> None:
    """Give the checker the verdicts on the run's record, which another process may have made."""
    if parts.checker is None:
        return
    results = [result for thought in run.thoughts for result in _details_of(thought)]
    await parts.checker.remember(
        [verdict for details in results for verdict in verdicts_in(details)]
    )


def _details_of(thought: Thought) -> Iterator[Mapping[str, object]]:
    """What validators and critics have put on record about a version."""
    yield from (result.details for result in thought.validation_results.values())
    yield from (feedback.details for feedback in thought.critic_feedback)
