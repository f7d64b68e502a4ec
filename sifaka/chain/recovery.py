"""Going on after a failure: what is tried follows from the run's record."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from sifaka.calls.recovery import Recovery, plan_recovery
from sifaka.chain.degradation import can_be_shortened
from sifaka.record.entries import Recovered
from sifaka.record.events import ChainEvent, Phase
from sifaka.record.run import Reached, Run

_NEXT: Mapping[Reached, Phase] = MappingProxyType(
    {
        "started": "generate",
        "drafted": "validate",
        "retrieved": "validate",
        "validated": "critique",
        "critiqued": "select",
        "decided": "generate",
        "anchored": "stop",
    }
)
"""The phase in which a run has failed, by the last one that was reached."""


def next_recovery(run: Run) -> Recovery | None:
    """The recovery of a run that has failed; None when it has not, or when there is none."""
    if run.status != "failed" or run.error_code is None:
        return None
    worked_on = _thought_id(run)
    before = [r for r in run.recoveries if (r.thought_id, r.phase) == (worked_on, run.reached)]
    chosen = plan_recovery(
        run.error_code,
        phase=_next(run),
        attempts=len(before),
        retry_after=run.retry_after,
    )
    if chosen and chosen.strategy == "shorter_context" and not can_be_shortened(run):
        return None  # the very same question would be asked again
    return chosen


def recovered(run: Run, chosen: Recovery) -> Recovered:
    """The entry that puts a decision on record."""
    return Recovered(
        strategy=chosen.strategy,
        error=chosen.why,
        thought_id=_thought_id(run),
        phase=run.reached,
    )


def _next(run: Run) -> Phase:
    """The phase in which the run has failed."""
    researches = run.config.inquiry is not None and run.reached == "started"
    return "research" if researches else _NEXT[run.reached]


def unless_recovered(
    listen: Callable[[ChainEvent], Awaitable[None]] | None, *, left: int
) -> Callable[[ChainEvent], Awaitable[None]] | None:
    """A listener that takes research for failed only when nothing more will be tried.

    Args:
        listen: Is told each event.
        left: The number of recoveries that are left.
    """
    if listen is None or left <= 0:
        return listen

    async def tell(event: ChainEvent) -> None:
        goes_on = event.research == "failed" and event.run and next_recovery(event.run)
        await listen(event.model_copy(update={"research": None}) if goes_on else event)

    return tell


def _thought_id(run: Run) -> str | None:
    return run.latest.id if run.latest else None
