"""Asking all critics at once."""

import logging
from collections.abc import Sequence

import anyio

from sifaka.budget import Ledger
from sifaka.critics.protocol import Critic
from sifaka.errors import SifakaError
from sifaka.results import CriticFeedback
from sifaka.thought import Thought

logger = logging.getLogger(__name__)


async def run_critics(
    critics: Sequence[Critic], thought: Thought, ledger: Ledger
) -> tuple[CriticFeedback, ...]:
    """What every critic says about a thought, in the order of the critics.

    They run in parallel and charge the same ledger. One that fails, or is not done when the time
    budget is spent, abstains: it has no vote, and its error reaches nobody but the record.
    """
    feedback: dict[int, CriticFeedback] = {}

    async def ask(position: int, critic: Critic) -> None:
        feedback[position] = await _ask(critic, thought, ledger)

    with ledger.charged():
        async with anyio.create_task_group() as group:
            for position, critic in enumerate(critics):
                group.start_soon(ask, position, critic)
    return tuple(feedback[position] for position in range(len(critics)))


async def _ask(critic: Critic, thought: Thought, ledger: Ledger) -> CriticFeedback:
    try:
        with anyio.move_on_after(ledger.seconds_left):
            return await critic.critique(thought)
    except SifakaError as error:
        return CriticFeedback.abstain(critic.name, str(error))
    # A critic may be anybody's code: its bug costs its vote, not the run.
    except Exception as error:
        logger.exception("critic %r failed", critic.name)
        return CriticFeedback.abstain(critic.name, f"it failed with {type(error).__name__}")
    return CriticFeedback.abstain(critic.name, "the run's budget of seconds is spent")
