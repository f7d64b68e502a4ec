"""A model that answers from a run's journal, and records new answers."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter
from pydantic_ai.exceptions import FallbackExceptionGroup
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import (
    CompletedStreamedResponse,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_core import PydanticSerializationError

from sifaka._internal.event_loop_turns import turn
from sifaka.calls.context import asking, current_calls
from sifaka.errors import ModelProviderError
from sifaka.models.metered import usage_of
from sifaka.models.structured import clean
from sifaka.record.entries import Called

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.settings import ModelSettings

_VOLATILE = frozenset(
    {"timestamp", "run_id", "conversation_id", "usage", "metadata", "provider_details"}
)
"""Parts of a message that differ each time the same thing is asked."""
_LARGEST = 4_000_000
"""Characters of an answer as JSON that a run keeps; no text may be that long."""
RESPONSE: TypeAdapter[ModelResponse] = TypeAdapter(ModelResponse)
"""Reads and writes the answers on record."""


class JournaledModel(WrapperModel):
    """A model whose answers are durable before they are used, and asked for once.

    Raises:
        StorageError: The answer could not be put on record.
    """

    async def request(
        self,
        messages: "list[ModelMessage]",
        model_settings: "ModelSettings | None",
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The answer on record, or one of the wrapped model."""
        calls = current_calls()
        journal = calls.journal
        key = journal.next_key()
        if key is None:
            return await self._ask(messages, model_settings, model_request_parameters)
        request = digest(messages, model_settings, model_request_parameters)
        recorded = journal.answer(key, request)
        if recorded is not None:
            answer = RESPONSE.validate_json(recorded)
            if calls.replaying:
                calls.ledger.settle(calls.ledger.reserve(), usage_of(answer))
            return answer
        with asking(key):
            response = await self._ask(messages, model_settings, model_request_parameters)
        if model_request_parameters.output_tools:
            response = _mend_surrogates(response)
        model = answered_by(response) or self.model_id
        metadata = response.metadata or {}
        await journal.record(
            Called(
                key=key,
                request=request,
                model=model,
                fallback=bool(metadata.get("sifaka_fallback")),
                unable=bool(metadata.get("sifaka_unable")),
                response=_encode_answer(response, model),
            )
        )
        await turn()
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: "list[ModelMessage]",
        model_settings: "ModelSettings | None",
        model_request_parameters: ModelRequestParameters,
        run_context: "RunContext[Any] | None" = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The answer as a stream that is complete: it is on record before any of it is used."""
        yield CompletedStreamedResponse(
            await self.request(messages, model_settings, model_request_parameters),
            model_request_parameters=model_request_parameters,
            replay_events=True,
        )

    async def _ask(
        self,
        messages: "list[ModelMessage]",
        model_settings: "ModelSettings | None",
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        try:
            return await self.wrapped.request(messages, model_settings, model_request_parameters)
        except FallbackExceptionGroup as group:
            raise _join_failures(group) from group


def _encode_answer(response: ModelResponse, model: str) -> str:
    """An answer as JSON, for the record.

    Raises:
        ModelProviderError: It is too long, or holds characters that no text may hold.
    """
    try:
        written = RESPONSE.dump_json(response, exclude_none=True).decode()
        problem = f"is longer than {_LARGEST:,} characters" if len(written) > _LARGEST else None
    except PydanticSerializationError:
        written, problem = "", "holds half a surrogate pair"
    if problem is not None:
        raise ModelProviderError(
            f"{model}: the answer {problem}",
            "try again or choose another model",
            provider=model.partition(":")[0],
            error_code="malformed",
        )
    return written


def _mend_surrogates(response: ModelResponse) -> ModelResponse:
    """An answer that has a form, with a mark for each half of a surrogate pair in its words."""
    parts = [
        replace(part, **{name: clean(getattr(part, name))})
        for part in response.parts
        for name in ("args" if isinstance(part, ToolCallPart) else "content",)
        if isinstance(part, TextPart | ThinkingPart | ToolCallPart)
    ]
    return replace(response, parts=parts) if len(parts) == len(response.parts) else response


def answered_by(response: ModelResponse) -> str | None:
    """The id of the model that gave this answer, where a metered model has noted it."""
    noted = (response.metadata or {}).get("sifaka_model")
    return noted if isinstance(noted, str) else None


def digest(
    messages: "list[ModelMessage]",
    settings: "ModelSettings | None",
    parameters: ModelRequestParameters,
) -> str:
    """SHA-256 of what is asked, the same for the same question at any time."""
    request = {
        "messages": _drop_volatile(ModelMessagesTypeAdapter.dump_python(messages, mode="json")),
        "settings": settings or {},
        "tools": [
            (tool.name, tool.parameters_json_schema)
            for tool in (*parameters.function_tools, *parameters.output_tools)
        ],
    }
    return sha256(json.dumps(request, sort_keys=True, default=repr).encode()).hexdigest()


def _drop_volatile(value: Any) -> Any:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _drop_volatile(item) for key, item in items if key not in _VOLATILE}
    if isinstance(value, list):
        return [_drop_volatile(item) for item in cast("list[Any]", value)]
    return value


def _join_failures(group: FallbackExceptionGroup) -> Exception:
    """One error for the failures of all models, with what the last of them says to do."""
    failures = [error for error in group.exceptions if isinstance(error, ModelProviderError)]
    if not failures:
        return cast("Exception", group.exceptions[-1])
    # The error of an open breaker is not that of a model.
    last = ([error for error in failures if error.error_code != "circuit_open"] or failures)[-1]
    return ModelProviderError(
        "; ".join(error.message for error in failures),
        last.suggestion,
        provider=last.provider,
        error_code=last.error_code,
        retry_after=last.retry_after,
    )
