"""The phases before critics: documents for the versions of a run, and verdicts on them."""

import anyio

from sifaka.calls import Calls
from sifaka.chain.limits import place
from sifaka.chain.parts import Parts
from sifaka.entries import Retrieved, Validated
from sifaka.errors import BudgetExceeded
from sifaka.journal import scope
from sifaka.retrieval import first_version, retrieve
from sifaka.run import Run
from sifaka.thought import Thought
from sifaka.validation import run_validators


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

    They finish whatever the time: every text that is returned has been validated.
    """
    original = run.original.text if run.original else None
    said: list[Validated] = []
    with calls.active(), calls.monitor.measure("phase", "validate"):
        for version in run.undecided:
            with scope(place(run, version.iteration)):
                results = await run_validators(parts.validators, version, original)
            said.append(Validated(thought_id=version.id, results=results))
    return said
