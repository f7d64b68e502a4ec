"""Questions and answers of PydanticAI in the words of OpenAI's chat protocol."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

Body = dict[str, Any]
"""A part of a request, as data for JSON."""
_FINISH = {
    "stop": "stop", "length": "length", "tool_calls": "tool_call", "function_call": "tool_call",
    "content_filter": "content_filter",
}  # fmt: skip
_THOUGHTS = ("reasoning", "reasoning_content")
"""The fields in which providers give the model's thoughts."""
_TAGS = ("<think>", "</think>")


def messages_of(
    messages: Sequence[ModelMessage],
    instructions: Sequence[str],
    system: str,
    profile: OpenAIModelProfile,
) -> list[Body]:
    """The messages of a conversation, the instructions after those of the system at its start.

    Args:
        messages: The conversation.
        instructions: The instructions, each a message of its own where the provider takes several.
        system: The name of the provider, whose own thoughts go back to it as they came.
        profile: What differs from the protocol's usual.

    Raises:
        UserError: A message holds more than text.
    """
    role = profile.get("openai_system_prompt_role") or "system"
    said: list[Body] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            said += _answered(message, system, profile)
        else:
            said += (_asked(part, role) for part in message.parts)
    first = next((n for n, each in enumerate(said) if each["role"] != role), len(said))
    said[first:first] = [{"role": role, "content": each} for each in instructions]
    first += len(instructions)
    if first > 1 and not profile.get("openai_chat_supports_multiple_system_messages", True):
        whole = "\n\n".join(each["content"] for each in said[:first])
        said[:first] = [{"role": role, "content": whole}]
    return said


def tools_of(
    parameters: ModelRequestParameters, settings: Mapping[str, Any], profile: OpenAIModelProfile
) -> Body:
    """The tools that may be called, and whether one has to be.

    Raises:
        UserError: A certain tool is to be called.
    """
    if settings.get("tool_choice", "auto") not in {None, "auto"}:
        raise _too_much("the setting 'tool_choice'")
    tools = list(parameters.declared_tool_defs.values())
    if not tools:
        return {}
    strict = profile.get("openai_supports_strict_tool_definition", True)
    forced = (
        not parameters.allow_text_output
        and profile.get("openai_supports_tool_choice_required", True)
        and profile.get("supports_forced_tool_choice", True)
    )
    body: Body = {
        "tools": [_tool(tool, strict=strict) for tool in tools],
        "tool_choice": "required" if forced else "auto",
    }
    if (several := settings.get("parallel_tool_calls")) is not None:
        body["parallel_tool_calls"] = several
    return body


def answer_form(parameters: ModelRequestParameters, profile: OpenAIModelProfile) -> Body:
    """The form that the answer's text has to have; empty where any will do."""
    form = parameters.output_object
    if parameters.output_mode == "native" and form is not None:
        schema: Body = {"name": form.name or "final_result", "schema": form.json_schema}
        if form.description:
            schema["description"] = form.description
        if profile.get("openai_supports_strict_tool_definition", True):
            schema["strict"] = form.strict
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    if parameters.output_mode == "prompted" and profile.get("supports_json_object_output"):
        return {"response_format": {"type": "json_object"}}
    return {}


def answer_of(sent: Any, model: str, system: str, url: str, profile: ModelProfile) -> ModelResponse:
    """The answer of a provider.

    Args:
        sent: The body of its response.
        model: The model that was asked.
        system: The provider's name.
        url: The provider's address.
        profile: What differs from the protocol's usual.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: It is not what the protocol says.
    """
    choice = sent["choices"][0]
    message, reason = choice["message"], choice.get("finish_reason")
    details: dict[str, Any] = {"finish_reason": reason} if reason else {}
    if created := sent.get("created"):
        details["timestamp"] = datetime.fromtimestamp(created, UTC)
    logprobs: Any = choice.get("logprobs")
    if logprobs and (logprobs := logprobs.get("content")):
        details["logprobs"] = logprobs
    if refusal := message.get("refusal"):
        details.pop("finish_reason", None)
        details["refusal"] = refusal
    finish = "content_filter" if refusal else _FINISH.get(reason or "stop")
    return ModelResponse(
        parts=[] if refusal else list(_parts(message, system, profile)),
        usage=_usage(sent, model, system, url),
        model_name=sent.get("model") or model,
        provider_details=details or None,
        provider_response_id=sent.get("id") or None,
        provider_name=system,
        provider_url=url,
        finish_reason=cast("Any", finish),
    )


def _parts(message: Any, system: str, profile: ModelProfile) -> Iterator[ModelResponsePart]:
    own = cast("OpenAIModelProfile", profile).get("openai_chat_thinking_field")
    for name in filter(None, (own, *_THOUGHTS)):
        if isinstance(thought := message.get(name), str) and thought:
            yield ThinkingPart(thought, id=name, provider_name=system)
            break
    content = message.get("content") or ""
    if not isinstance(content, str):  # some providers send parts
        content = "".join(part if isinstance(part, str) else part["text"] for part in content)
    yield from _texts(content, system, profile.get("thinking_tags", _TAGS))
    for call in message.get("tool_calls") or ():
        function = call["function"]
        part = ToolCallPart(function["name"], function.get("arguments"))
        part.tool_call_id = call.get("id") or part.tool_call_id
        yield part


def _texts(content: str, system: str, tags: tuple[str, str]) -> Iterator[TextPart | ThinkingPart]:
    """The text, and apart from it what stands between the model's marks of thinking."""
    while content:
        before, opened, rest = content.partition(tags[0])
        if before:
            yield TextPart(before)
        thought, closed, content = rest.partition(tags[1])
        if closed:
            yield ThinkingPart(thought, id="content", provider_name=system)
        elif opened and rest:
            yield TextPart(rest)


def _usage(sent: Any, model: str, system: str, url: str) -> RequestUsage:
    told = sent.get("usage")
    if not told:
        return RequestUsage(unmeasured_requests=1)
    spent: dict[str, Any] = told.get("completion_tokens_details") or {}
    if not spent and not told.get("prompt_tokens_details"):
        asked, answered = told.get("prompt_tokens"), told.get("completion_tokens")
        if type(asked) is type(answered) is int:
            return RequestUsage(input_tokens=asked, output_tokens=answered)
    return RequestUsage.extract(
        {"model": model, "usage": told},
        provider=system,
        provider_url=url,
        provider_fallback="openai",
        api_flavor="chat",
        details={name: n for name, n in spent.items() if isinstance(n, int)},
    )


def _asked(part: ModelRequestPart, role: str) -> Body:
    if isinstance(part, SystemPromptPart):
        return {"role": role, "content": part.content}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": _text_of(part)}
    if isinstance(part, ToolReturnPart):
        content, files = part.model_response_str_and_user_content()
        if files:
            raise _too_much("a tool's file")
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    raise _too_much(f"a part of the kind {part.part_kind!r}")


def _text_of(part: UserPromptPart) -> str | list[Body]:
    if isinstance(part.content, str):
        return part.content
    texts = [each for each in part.content if isinstance(each, str)]
    if len(texts) < len(part.content):
        raise _too_much("a message of more than text")
    return [{"type": "text", "text": each} for each in texts]


def _answered(response: ModelResponse, system: str, profile: OpenAIModelProfile) -> Iterator[Body]:
    """An earlier answer of the model; nothing where it was empty."""
    opens, closes = profile.get("thinking_tags", _TAGS)
    texts: list[str] = []
    thoughts: dict[str, list[str]] = {}
    calls: list[Body] = []
    for part in response.parts:
        if isinstance(part, TextPart):
            texts.append(part.content)
        elif isinstance(part, ThinkingPart):
            if part.id and part.id != "content" and part.provider_name == system:
                thoughts.setdefault(part.id, []).append(part.content)
            else:
                texts.append(f"{opens}\n{part.content}\n{closes}")
        elif isinstance(part, ToolCallPart):
            function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
            calls.append({"id": part.tool_call_id, "type": "function", "function": function})
    if not texts and not calls:
        return
    said: Body = {name: "\n\n".join(each) for name, each in thoughts.items()}
    said |= {"role": "assistant", "content": "\n\n".join(texts) if texts else None}
    yield said | ({"tool_calls": calls} if calls else {})


def _tool(tool: ToolDefinition, *, strict: bool) -> Body:
    function: Body = {
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.parameters_json_schema,
    }
    if tool.strict and strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _too_much(what: str) -> UserError:
    return UserError(f"a plain chat has no place for {what}: pass PydanticAI's OpenAIChatModel")
