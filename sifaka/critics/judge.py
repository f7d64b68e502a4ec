"""The model a critic asks."""

from typing import Any

from pydantic import Field

from sifaka.critics.opinion import Opinion, case, feedback_of
from sifaka.errors import ConfigurationError
from sifaka.immutable import Frozen
from sifaka.models.framing import DATA_NOTICE
from sifaka.results import CriticFeedback
from sifaka.thought import Thought

_NOTICE = (
    "You review a text that somebody else wrote. Quote exactly. Ask for a revision only for what "
    f"makes the text worse for its readers; when nothing does, accept it. {DATA_NOTICE}"
)


class JudgingCritic(Frozen):
    """What critics that ask a model share: which model, and one question to it."""

    model: Any = Field(default=None, exclude=True)
    """A `provider:name`, a PydanticAI model, or None for the chain's judge."""

    async def _ask(self, name: str, instructions: str, thought: Thought) -> CriticFeedback:
        from sifaka.models.provider import provider_model
        from sifaka.models.structured import ask

        if self.model is None:
            raise ConfigurationError(
                f"critic {name!r} needs a model", "configure one, or use the critic `lint`"
            )
        opinion, response = await ask(
            provider_model(self.model), f"{_NOTICE}\n\n{instructions}", case(thought), Opinion
        )
        return feedback_of(name, opinion, thought, response)
