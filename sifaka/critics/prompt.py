"""The user's own rubric as a critic."""

from typing import Literal

from pydantic import Field

from sifaka.critics.judge import JudgingCritic
from sifaka.results import CriticFeedback
from sifaka.thought import Thought


class PromptCritic(JudgingCritic):
    """Judges the text by a rubric in the user's words. One model call, depth one."""

    type: Literal["prompt"] = "prompt"
    name: str = "prompt"
    rubric: str = Field(min_length=1, max_length=20_000)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """One opinion by the rubric; see `Critic`."""
        return await self._ask(self.name, f"Judge the text by this rubric:\n{self.rubric}", thought)
