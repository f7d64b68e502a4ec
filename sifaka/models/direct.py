"""PydanticAI models as writers: one request a version, without an agent around it."""

from typing import TYPE_CHECKING, Any

from sifaka.calls.component import Component
from sifaka.models.completeness import complete_text
from sifaka.models.journaled import JournaledModel, answered_by
from sifaka.models.metered import usage_of
from sifaka.models.prompts import WRITER_INSTRUCTIONS, writing_prompt
from sifaka.models.protocol import Generation
from sifaka.record.thought import Thought

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse


class DirectModel(Component):
    """A writer that asks a model once for each version, with no earlier conversation."""

    def __init__(self, model: JournaledModel) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """The model's id, such as `openai:gpt-5`."""
        return self.model.model_id

    @property
    def models(self) -> tuple[Any, ...]:
        """The one that it asks."""
        return (self.model,)

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The next version; see `Model`."""
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import AgentRunError, UserError
        from pydantic_ai.messages import ModelRequest

        from sifaka.models.provider_errors import translate

        prompt = writing_prompt(thought)
        request = ModelRequest.user_text_prompt(prompt, instructions=WRITER_INSTRUCTIONS)
        try:
            response = await model_request(self.model, [request])
        except (AgentRunError, UserError) as error:
            raise translate(error, self.name) from error
        author = answered_by(response) or self.name
        return Generation(
            text=complete_text(_text(response), response, author),
            prompt_used=prompt,
            author=author,
            usage=usage_of(response),
            metered=True,
        )


def _text(response: "ModelResponse") -> str:
    from pydantic_ai.messages import TextPart

    return "".join(part.content for part in response.parts if isinstance(part, TextPart))
