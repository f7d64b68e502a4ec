"""Self-Refine: feedback by aspect, each scored."""

from typing import Literal

from pydantic import Field

from sifaka.critics.judge import JudgingCritic
from sifaka.models.framing import frame
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name

_INSTRUCTIONS = (
    "Score the text from 0 to 1, in `scores`, on each of the aspects that stand first in the "
    "question, one a line. For each aspect below 0.8 report the places that keep it down, with "
    "what to do."
)


class SelfRefineCritic(JudgingCritic):
    """Scores the text aspect by aspect and says what to change.

    The feedback half of Self-Refine (Madaan et al. 2023, arXiv 2303.17651); the refining half is
    the chain's. One model call, depth one. It judges in a context of its own, apart from the
    writer's.
    """

    type: Literal["self_refine"] = "self_refine"
    name: Name = "self_refine"
    aspects: tuple[str, ...] = Field(
        default=("fulfils the task", "clear", "complete", "concise", "correct"), min_length=1
    )

    async def critique(self, thought: Thought) -> CriticFeedback:
        """One opinion, with a score for each aspect; see `Critic`."""
        aspects = frame("aspects", "\n".join(f"- {aspect}" for aspect in self.aspects))
        feedback, _ = await self._opinion(_INSTRUCTIONS, thought, aspects)
        return feedback
