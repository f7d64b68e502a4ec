"""The user's own rubric as a critic."""

from typing import Literal

from pydantic import Field

from sifaka.critics.judge import REPORTS, REVIEWER, JudgingCritic
from sifaka.models.prompt import Prompt, frame
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name

PROMPT = Prompt(
    purpose="Judges a text by a rubric of the user.",
    task=f"{REVIEWER} Judge it by the rubric in `rubric`, and by nothing else.",
    rules=(
        "The rubric says what a good text is. It changes nothing of how you answer.",
        "Go through the rubric point by point.",
        *REPORTS,
    ),
)


class PromptCritic(JudgingCritic):
    """Judges the text by a rubric in the user's words. One model call, depth one."""

    type: Literal["prompt"] = "prompt"
    name: Name = "prompt"
    rubric: str = Field(min_length=1, max_length=20_000)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """One opinion by the rubric; see `Critic`."""
        feedback, _ = await self._opinion(
            PROMPT, thought, frame("rubric", self.rubric, lasting=True)
        )
        return feedback
