"""The model of a local provider: it has time, and is asked in a form that it can answer in."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic_ai.messages import InstructionPart, ModelRequest, ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings, merge_model_settings

from sifaka.errors import ModelProviderError
from sifaka.models.metered import MeteredModel

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse

PATIENCE = 1800.0
"""Seconds for one call: a small machine is slow, and asks one question after the other."""
_BY_TOOL, _BY_SCHEMA, _BY_PROMPT = range(3)
"""The forms of a question whose answer is an object, in the order in which they are tried."""
_AS_JSON = (
    "Answer with one JSON object and nothing around it, where these instructions speak of the tool "
    "`{name}` too. It has to fit this JSON schema:\n{schema}"
)


class LocalModel(MeteredModel):
    """A metered model of OpenAI's protocol on this machine or in its network.

    Where it first answers in words although it was shown a tool, and where its engine refuses
    tools, it is asked for JSON by its schema from then on: in the prompt and as `response_format`,
    which engines enforce, or in the prompt alone where the engine refuses that too. The record of a
    call is the same in all forms.
    """

    _form = _BY_TOOL
    _has_called = False
    """True once it has called a tool."""

    async def request(
        self,
        messages: "list[ModelMessage]",
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        """One answer of the wrapped model; see `MeteredModel`."""
        parameters = model_request_parameters
        if not parameters.output_tools or parameters.function_tools:
            return await super().request(messages, model_settings, parameters)
        form, sent, settings = self._form, parameters, model_settings
        if form != _BY_TOOL:
            sent = _request_json(messages, parameters)
        if form == _BY_SCHEMA:  # by which an engine writes what fits the schema, and nothing else
            tool = parameters.output_tools[0]
            schema = {"name": tool.name, "schema": tool.parameters_json_schema}
            wanted = {"response_format": {"type": "json_schema", "json_schema": schema}}
            settings = merge_model_settings(model_settings, ModelSettings(extra_body=wanted))
        try:
            response = await super().request(messages, settings, sent)
        except ModelProviderError as error:
            if error.error_code != "rejected" or self._has_called or form == _BY_PROMPT:
                raise
            self._form = max(self._form, form + 1)
            return await self.request(messages, model_settings, parameters)
        self._has_called |= any(isinstance(part, ToolCallPart) for part in response.parts)
        # One that is still thinking has not shown that it cannot.
        was_free = parameters.allow_text_output or response.finish_reason == "length"
        if form == _BY_TOOL and not (self._has_called or was_free):
            self._form = max(self._form, _BY_SCHEMA)
            self._signature["sifaka_unable"] = True
            response = replace(response, metadata={**(response.metadata or {}), **self._signature})
        return response


def _request_json(
    messages: "list[ModelMessage]", parameters: ModelRequestParameters
) -> ModelRequestParameters:
    """A question by an output tool as one for JSON, with the schema in the prompt.

    All instructions become one part: templates of small models know one system message.
    """
    tool = parameters.output_tools[0]
    instructions = [m.instructions for m in messages if isinstance(m, ModelRequest)]
    if parameters.instruction_parts is not None:
        instructions = [part.content for part in parameters.instruction_parts]
    schema = json.dumps(tool.parameters_json_schema, ensure_ascii=False)
    instructions.append(_AS_JSON.format(name=tool.name, schema=schema))
    return replace(
        parameters,
        output_mode="text",
        output_tools=[],
        allow_text_output=True,
        instruction_parts=[InstructionPart(content="\n\n".join(filter(None, instructions)))],
    )
