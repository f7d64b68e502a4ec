"""Asking all critics at once."""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from time import perf_counter
from typing import cast

import anyio

from sifaka._internal.naming import unique
from sifaka.calls.context import Calls, fan_out, is_cancelled
from sifaka.calls.failure_log import report_failure
from sifaka.critics.panel import abstention
from sifaka.critics.protocol import CriticComponent
from sifaka.errors import BudgetExceeded, CriticError, ModelProviderError, SifakaError, StorageError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage

_NOTHING = Usage()

logger = logging.getLogger(__name__)


async def run_critics(
    critics: Sequence[CriticComponent],
    thought: Thought,
    calls: Calls,
    *,
    deadline: float | None = None,
) -> tuple[CriticFeedback, ...]:
    """Ask every critic about a thought; their feedback comes in the order of the critics.

    They run in parallel and charge the same ledger; each has the calls it needs set aside before it
    begins. One that fails, or is not done in time, abstains: it has no vote, and its error is only
    recorded.

    Args:
        critics: The critics.
        thought: The version to judge.
        calls: The surroundings of the run's model calls.
        deadline: Seconds that one critic may take, all of its calls together.

    Raises:
        StorageError: An answer could not be put on record.
    """
    names = unique(critic.name for critic in critics)
    with calls.active():
        return await fan_out(
            {
                f"critics[{n}].{name}": partial(_feedback, name, critic, thought, calls, deadline)
                for n, (name, critic) in enumerate(zip(names, critics, strict=True))
            },
            calls_each=0,
        )


async def _feedback(
    name: str, critic: CriticComponent, thought: Thought, calls: Calls, deadline: float | None
) -> CriticFeedback:
    began = perf_counter()
    with calls.monitor.measure("critic", name):
        feedback = await _ask(name, critic, thought, calls, deadline)
    if feedback.usage != _NOTHING and not critic.metered:
        # What asks through metered models has been charged already.
        calls.ledger.charge(feedback.usage.model_copy(update={"seconds": 0.0}))
    took = Usage(seconds=perf_counter() - began)
    return feedback.model_copy(update={"critic": name, "usage": feedback.usage + took})


async def _ask(
    name: str, critic: CriticComponent, thought: Thought, calls: Calls, deadline: float | None
) -> CriticFeedback:
    needed = critic.calls(thought.text)
    try:
        with (
            calls.set_aside(needed) if needed else nullcontext(),
            calls.ledger.within_time() as limit,
            anyio.move_on_after(deadline),
        ):
            feedback = cast("object", await critic.critique(thought))
            if not isinstance(feedback, CriticFeedback):  # it may be foreign code
                returned = type(feedback).__name__
                raise CriticError(f"it returned a {returned}, not a CriticFeedback")
            return feedback
    except StorageError:
        raise
    except BudgetExceeded as error:
        return abstention(name, error)
    except SifakaError as error:
        _report(name, critic, thought, calls, error)
        return abstention(name, error)
    except anyio.get_cancelled_exc_class():
        if is_cancelled():
            raise
        return CriticFeedback.abstain(name, "something that it waited for was cancelled")
    # A critic may be foreign code: its bug costs its vote, not the run.
    except Exception as error:  # noqa: BLE001 - reported just below
        _report(name, critic, thought, calls, error)
        return CriticFeedback.abstain(name, f"it crashed with {type(error).__name__}")
    if limit.cancelled_caught:
        return CriticFeedback.abstain(
            critic.name, "the run's budget of seconds is spent", details={"limit": "seconds"}
        )
    return CriticFeedback.abstain(
        name, f"no answer within {deadline:g} s", details={"code": "timeout"}
    )


def _report(
    name: str, critic: CriticComponent, thought: Thought, calls: Calls, error: Exception
) -> None:
    if not isinstance(error, ModelProviderError):  # those were counted where they happened
        calls.monitor.count_error(type(error).__name__)
    report_failure(
        logger,
        f"critic:{name}",
        error,
        source=critic,
        run_id=thought.run_id,
        iteration=thought.iteration,
    )
