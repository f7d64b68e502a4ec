"""Asking all critics at once."""

import asyncio
import logging
import math
from collections.abc import Sequence
from time import perf_counter

import anyio

from sifaka._internal.naming import unique
from sifaka.calls.concurrency import fan_out
from sifaka.calls.context import Calls
from sifaka.calls.failure_log import report_failure
from sifaka.calls.recovery import code_of
from sifaka.critics import asks_a_model, calls_of
from sifaka.critics.protocol import Critic
from sifaka.errors import BudgetExceeded, CriticError, ModelProviderError, SifakaError, StorageError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage

logger = logging.getLogger(__name__)


async def run_critics(
    critics: Sequence[Critic], thought: Thought, calls: Calls, *, deadline: float | None = None
) -> tuple[CriticFeedback, ...]:
    """What every critic says about a thought, in the order of the critics.

    They run in parallel and charge the same ledger; each has the calls it needs set aside before it
    begins. One that fails, or is not done in time, abstains: it has no vote, and its error reaches
    nobody but the record.

    Args:
        critics: Whom to ask.
        thought: The version to judge.
        calls: The surroundings of the run's model calls.
        deadline: Seconds that one critic may take, all of its calls together.

    Raises:
        StorageError: An answer could not be put on record.
    """
    names = unique(_name_of(critic) for critic in critics)
    with calls.active():
        return await fan_out(
            {
                f"critics[{n}].{name}": _Question(name, critic, thought, calls, deadline)
                for n, (name, critic) in enumerate(zip(names, critics, strict=True))
            },
            calls_each=0,
        )


class _Question:
    """One critic, asked once."""

    def __init__(
        self, name: str, critic: Critic, thought: Thought, calls: Calls, deadline: float | None
    ) -> None:
        self._name = name
        self._critic = critic
        self._thought = thought
        self._calls = calls
        self._deadline = deadline

    async def __call__(self) -> CriticFeedback:
        began = perf_counter()
        with self._calls.monitor.measure("critic", self._name):
            feedback = await self._ask()
        if not getattr(self._critic, "metered", asks_a_model(self._critic)):
            # What asks through metered models has been charged already.
            self._calls.ledger.charge(feedback.usage.model_copy(update={"seconds": 0.0}))
        took = Usage(seconds=perf_counter() - began)
        return feedback.model_copy(update={"critic": self._name, "usage": feedback.usage + took})

    async def _ask(self) -> CriticFeedback:
        name, critic = self._name, self._critic
        try:
            with (
                self._calls.set_aside(calls_of(critic, self._thought.text)),
                self._calls.ledger.within_time() as limit,
                anyio.move_on_after(self._deadline),
            ):
                return _checked(await critic.critique(self._thought))
        except StorageError:
            raise
        except BudgetExceeded as error:
            return CriticFeedback.abstain(name, str(error), details={"limit": error.limit})
        except SifakaError as error:
            self._report(error)
            wait = getattr(error, "retry_after", None)
            details = {"code": code_of(error), **({"retry_after": wait} if wait else {})}
            return CriticFeedback.abstain(name, str(error), details=details)
        except anyio.get_cancelled_exc_class():
            if _being_cancelled():
                raise
            return CriticFeedback.abstain(name, "something that it waited for was cancelled")
        # A critic may be anybody's code: its bug costs its vote, not the run.
        except Exception as error:  # noqa: BLE001 - reported just below
            self._report(error)
            return CriticFeedback.abstain(name, f"it failed with {type(error).__name__}")
        if limit.cancelled_caught:
            return CriticFeedback.abstain(
                critic.name, "the run's budget of seconds is spent", details={"limit": "seconds"}
            )
        return CriticFeedback.abstain(
            name, f"no answer within {self._deadline:g} s", details={"code": "timeout"}
        )

    def _report(self, error: Exception) -> None:
        thought = self._thought
        if not isinstance(error, ModelProviderError):  # those were counted where they happened
            self._calls.monitor.count_error(type(error).__name__)
        report_failure(
            logger,
            f"critic:{self._name}",
            error,
            run_id=thought.run_id,
            iteration=thought.iteration,
        )


def _being_cancelled() -> bool:
    """Whether it is this task that is cancelled, and not something that it waited for."""
    task = asyncio.current_task()
    ours = task is None or task.cancelling() > 0
    return ours or anyio.current_effective_deadline() == -math.inf


def _name_of(critic: Critic) -> str:
    return str(getattr(critic, "name", type(critic).__name__))


def _checked(feedback: object) -> CriticFeedback:
    """What a critic has returned, which may be anybody's code."""
    if not isinstance(feedback, CriticFeedback):
        raise CriticError(f"it returned a {type(feedback).__name__}, not a CriticFeedback")
    return feedback
