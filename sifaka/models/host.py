"""The host's model as a PydanticAI model: text in, text out, forms as JSON."""

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.usage import RequestUsage

from sifaka.calls.context import current_calls, key_asked
from sifaka.calls.host import Host, HostQuestion
from sifaka.models import HOST

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.settings import ModelSettings

LONGEST_ANSWER = 16_384
"""Tokens to allow for an answer where nothing says how long it may be."""
PATIENCE = 600.0
"""Seconds for one answer: a person may have to allow each question."""


class HostModel(Model):
    """Asks the model of the program that called us.

    Hosts answer in text. Where an answer has a form, the question ends with its JSON schema.

    Args:
        host: Whom to ask.
    """

    call_timeout = PATIENCE

    def __init__(self, host: Host) -> None:
        super().__init__()
        self._host = host

    @property
    def model_name(self) -> str:
        """A placeholder: the host names its model with each answer."""
        return "sampling"

    @property
    def system(self) -> str:
        """The name in the place of the provider's."""
        return HOST

    async def request(
        self,
        messages: "list[ModelMessage]",
        model_settings: "ModelSettings | None",
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The host's answer; its tokens are not known, and cost us nothing.

        Raises:
            ModelProviderError: The host has refused or cannot be asked.
            Suspended: The answer comes later.
        """
        question = _build_question(messages, model_settings, model_request_parameters)
        mark = sha256(question.model_dump_json().encode()).hexdigest()[:12]
        with current_calls().ledger.waiting():
            answer = await self._host.ask(f"{key_asked() or 'question'} {mark}", question)
        return ModelResponse(
            parts=[TextPart(content=answer.text)],
            model_name=answer.model or None,
            provider_name=HOST,
            usage=RequestUsage(),
            finish_reason="stop" if answer.complete else "length",
        )


def _build_question(
    messages: "list[ModelMessage]",
    settings: "ModelSettings | None",
    parameters: ModelRequestParameters,
) -> HostQuestion:
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    parts = [part for request in requests for part in request.parts]
    instructions = [request.instructions for request in requests if request.instructions]
    instructions += [part.content for part in parts if isinstance(part, SystemPromptPart)]
    prompts = (part.content for part in parts if isinstance(part, UserPromptPart))
    for form in parameters.output_tools:
        schema = json.dumps(form.parameters_json_schema, ensure_ascii=False)
        instructions.append(
            "Answer with one JSON object and nothing around it, also where you are told to call "
            f"the tool `{form.name}`. The object fits this JSON schema:\n{schema}"
        )
    wanted = settings or {}
    return HostQuestion(
        instructions="\n\n".join(instructions),
        prompt="\n\n".join(each for each in prompts if isinstance(each, str)),
        max_tokens=wanted.get("max_tokens") or LONGEST_ANSWER,
        temperature=wanted.get("temperature"),
    )
