"""Self-Refine: feedback by aspect, each scored."""

from typing import Literal

from pydantic import Field

from sifaka.critics.judge import JudgingCritic
from sifaka.results import CriticFeedback
from sifaka.thought import Thought


class SelfRefineCritic(JudgingCritic):
    """Scores the text aspect by aspect and says what to change.

    The feedback half of Self-Refine (Madaan et al. 2023, arXiv 2303.17651); the refining half is
    the chain's. One model call, depth one. It judges in a context of its own, apart from the
    writer's.
    """

    type: Literal["self_refine"] = "self_refine"
    name: str = "self_refine"
    aspects: tuple[str, ...] = Field(
        default=("fulfils the task", "clear", "complete", "concise", "correct"), min_length=1
    )

    async def critique(self, thought: Thought) -> CriticFeedback:
        """One opinion, with a score for each aspect; see `Critic`."""
        aspects = "\n".join(f"- {aspect}" for aspect in self.aspects)
        return await self._ask(
            self.name,
            f"Score the text from 0 to 1 on each of these aspects, in `scores`:\n{aspects}\n"
            "For each aspect below 0.8 report the places that keep it down, with what to do.",
            thought,
        )
