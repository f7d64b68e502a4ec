"""The model of a local provider: asked as its provider can answer."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from pydantic_ai.messages import InstructionPart, ModelRequest
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings, merge_model_settings

from sifaka.calls.context import PARALLEL, current_calls
from sifaka.errors import ModelProviderError
from sifaka.models.local import LocalProviders
from sifaka.models.metered import CALL_TIMEOUT, MeteredModel

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse

_PATIENCE = 60.0
"""Seconds for the answer to the question of what a provider is able to."""
_AS_JSON = (
    "Answer with one JSON object and nothing around it, where these instructions speak of the tool "
    "`{name}` too. It has to fit this JSON schema:\n{schema}"
)


class _Probe(MeteredModel):
    """A model that is asked one question once, whatever becomes of it."""

    async def request(
        self,
        messages: "list[ModelMessage]",
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        """One answer of the wrapped model, not retried."""
        calls = current_calls()
        return await self._attempt(calls, messages, model_settings, model_request_parameters)


class LocalModel(MeteredModel):
    """A metered model of a local provider, with the time, the calls at once and the form it needs.

    A provider that does not call tools is asked for JSON by its schema, in the prompt and as
    `response_format`, which engines enforce. The record of a call is the same in both forms.

    Args:
        wrapped: The model.
        providers: Where the abilities of its provider are kept.
        call_timeout: Seconds that one call may take; what its speed needs when None.
        fallback: True when it stands in for another one.
    """

    def __init__(
        self,
        wrapped: Model,
        providers: LocalProviders,
        *,
        call_timeout: float | None = None,
        fallback: bool = False,
    ) -> None:
        super().__init__(wrapped, call_timeout=call_timeout or CALL_TIMEOUT, fallback=fallback)
        self._providers = providers
        self._timeout_given = call_timeout is not None
        self._asking = anyio.Lock(fast_acquire=True)
        self._is_known = False
        self._calls_tools = self._takes_schemas = True
        self._places = anyio.Semaphore(PARALLEL, fast_acquire=True)

    async def request(
        self,
        messages: "list[ModelMessage]",
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        """One answer of the wrapped model; see `MeteredModel`."""
        async with self._asking:
            if not self._is_known:
                await self._know()
        asked = model_request_parameters
        async with self._places:
            if self._calls_tools or not asked.output_tools or asked.function_tools:
                return await super().request(messages, model_settings, asked)
            asked = _as_json(messages, asked)
            if self._takes_schemas:
                form = _response_format(model_request_parameters)
                settings = merge_model_settings(model_settings, form)
                try:
                    return await super().request(messages, settings, asked)
                except ModelProviderError as error:
                    if error.code != "rejected":
                        raise
                    self._takes_schemas = False  # the prompt has the schema too
            return await super().request(messages, model_settings, asked)

    async def _know(self) -> None:
        found = await self._providers.get(self.wrapped)
        if found is None and current_calls().ledger.has_spare_call:
            found = await self._providers.ask(_Probe(self.wrapped, call_timeout=_PATIENCE))
        if found is None:
            return  # it did not answer, and is asked again at the next call
        self._is_known = True
        self._calls_tools = found.calls_tools
        self._signature["sifaka_unable"] = found.unable
        self._places = anyio.Semaphore(found.parallel, fast_acquire=True)
        if not self._timeout_given:
            self._call_timeout = found.call_timeout


def _as_json(
    messages: "list[ModelMessage]", parameters: ModelRequestParameters
) -> ModelRequestParameters:
    """A question by an output tool as one for JSON, with the schema in the prompt.

    All instructions become one part: templates of small models know one system message.
    """
    tool = parameters.output_tools[0]
    if parameters.instruction_parts is not None:
        said = [part.content for part in parameters.instruction_parts]
    else:
        told = [m.instructions for m in messages if isinstance(m, ModelRequest)]
        said = [each for each in told if each]
    schema = json.dumps(tool.parameters_json_schema, ensure_ascii=False)
    note = _AS_JSON.format(name=tool.name, schema=schema)
    return replace(
        parameters,
        output_mode="text",
        output_tools=[],
        allow_text_output=True,
        instruction_parts=[InstructionPart(content="\n\n".join([*said, note]))],
    )


def _response_format(parameters: ModelRequestParameters) -> ModelSettings:
    """The settings by which an engine writes what fits the schema, and nothing else."""
    tool = parameters.output_tools[0]
    schema = {"name": tool.name, "schema": tool.parameters_json_schema}
    return ModelSettings(
        extra_body={"response_format": {"type": "json_schema", "json_schema": schema}}
    )
