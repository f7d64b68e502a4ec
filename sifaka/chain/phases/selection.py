"""The selection phase: which of the versions becomes the champion."""

from collections.abc import Sequence

from sifaka.chain.phases.context import PhaseContext
from sifaka.chain.policies import decide, decide_by_judge
from sifaka.errors import BudgetExceeded
from sifaka.record.entries import Entry


async def select(context: PhaseContext) -> Sequence[Entry]:
    """Decide on the versions that are not compared yet.

    Raises:
        BudgetExceeded: The time is over before the judge has answered.
    """
    run, judge, calls = context.run, context.parts.judge, context.calls
    if judge is None:
        return decide(run)
    if run.champion is not None:
        await context.tell("select", "asking the judge")
    with calls.monitor.measure("phase", "select"), calls.ledger.within_time():
        return await decide_by_judge(run, judge)
    raise BudgetExceeded("seconds")
