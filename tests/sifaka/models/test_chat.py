"""Plain chats: the same questions and answers as with PydanticAI's own model, and its errors."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, Field
from pydantic_ai import Agent, BinaryContent, ModelRetry
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ModelConnectionError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from sifaka.errors import ModelProviderError
from sifaka.models.chat import ChatModel
from sifaka.models.provider import provider_model
from sifaka.models.provider_errors import translate
from tests.stubs.provider import Reply, calls, fails, provider, says

pytestmark = pytest.mark.anyio


class Form(BaseModel):
    """An answer."""

    verdict: str = Field(max_length=10)
    scores: dict[str, float] = {}


TOOL = ToolDefinition(
    name="answer", description="Answer.", parameters_json_schema=Form.model_json_schema()
)
OBJECT = OutputObjectDefinition(
    json_schema=Form.model_json_schema(), name="form", description="An answer."
)
PLAIN = ModelRequest.user_text_prompt("What is it?", instructions="Be short.")
TALK: list[ModelMessage] = [
    ModelRequest(parts=[SystemPromptPart("You look things up."), UserPromptPart("Which?")]),
    ModelResponse(
        parts=[
            ThinkingPart("Where is it?", id="reasoning", provider_name="openai"),
            TextPart("I look."),
            TextPart("Once."),
            ToolCallPart("find", {"word": "ß"}, tool_call_id="call_7"),
        ]
    ),
    ModelRequest(
        parts=[ToolReturnPart("find", {"found": 2}, tool_call_id="call_7")],
        instructions="Be short.",
    ),
    ModelResponse(parts=[]),
    ModelRequest(parts=[UserPromptPart(["Both", "of them?"])], instructions="Be short."),
]
FIND = replace(TOOL, name="find", kind="function")
QUESTIONS: Mapping[str, tuple[list[ModelMessage], ModelSettings, ModelRequestParameters]] = {
    "text": ([PLAIN], ModelSettings(), ModelRequestParameters()),
    "settings": (
        [PLAIN],
        ModelSettings(
            temperature=0.5,
            top_p=0.9,
            seed=7,
            max_tokens=99,
            stop_sequences=["END"],
            presence_penalty=0.1,
            frequency_penalty=0.2,
            logit_bias={"5": 1},
            extra_body={"response_format": {"type": "json_object"}},
        ),
        ModelRequestParameters(),
    ),
    "a form by a tool": (
        [PLAIN],
        ModelSettings(),
        ModelRequestParameters(
            output_mode="tool",
            output_tools=[replace(TOOL, kind="output")],
            allow_text_output=False,
        ),
    ),
    "tools": (
        TALK,
        ModelSettings(parallel_tool_calls=False),
        ModelRequestParameters(function_tools=[FIND]),
    ),
    "a form": (
        [PLAIN],
        ModelSettings(),
        ModelRequestParameters(output_mode="native", output_object=OBJECT),
    ),
    "a form in the prompt": (
        [PLAIN],
        ModelSettings(),
        ModelRequestParameters(
            output_mode="prompted", output_object=OBJECT, allow_text_output=True
        ),
    ),
}


def message(**fields: Any) -> Reply:
    reply = says("It is.")
    choice = reply.body["choices"][0]
    choice["message"] |= fields.pop("message", {})
    choice |= fields.pop("choice", {})
    return replace(reply, body=reply.body | fields)


ANSWERS = {
    "text": says("It is. Здесь."),
    "a call": calls("answer", {"verdict": "yes"}),
    "a damaged call": calls("answer", "{'verdict': "),
    "thoughts in marks": says("<think>Hm.</think>It is.<think>Yes?</think> So."),
    "thoughts without an end": says("A<think>Hm."),
    "thoughts in a field": message(message={"reasoning_content": "Hm.", "reasoning": ""}),
    "a refusal": message(message={"content": None, "refusal": "I do not."}),
    "parts": message(message={"content": [{"type": "text", "text": "It "}, "is."]}),
    "cut": message(choice={"finish_reason": "length"}),
    "filtered": message(choice={"finish_reason": "content_filter"}),
    "an unknown end": message(choice={"finish_reason": "guardrail"}),
    "no end": message(choice={"finish_reason": None}),
    "no usage": message(usage=None),
    "details": message(
        usage={
            "prompt_tokens": 30,
            "completion_tokens": 9,
            "total_tokens": 39,
            "prompt_tokens_details": {"cached_tokens": 20},
            "completion_tokens_details": {"reasoning_tokens": 4},
        }
    ),
    "no date": message(created=None, id=""),
}


def both(url: str) -> tuple[Model[Any], Model[Any]]:
    theirs = OpenAIChatModel("stub", provider=OpenAIProvider(base_url=url, api_key="key"))
    theirs.client.max_retries = 0
    return ChatModel("stub", base_url=url, api_key="key"), theirs


def timeless(response: ModelResponse) -> dict[str, Any]:
    told = asdict(response)
    told.pop("timestamp")
    told.pop("canonical_system", None)
    return told


@pytest.mark.parametrize("question", QUESTIONS)
async def test_the_question_is_the_one_that_pydantic_ai_sends(question: str) -> None:
    messages, settings, parameters = QUESTIONS[question]
    with provider([says("Yes."), says("Yes.")]) as stub:
        for model in both(stub.url):
            async with model:
                await model_request(
                    model, messages, model_settings=settings, model_request_parameters=parameters
                )
    ours, theirs = stub.requests
    theirs.pop("stream", None)
    assert ours == theirs


@pytest.mark.parametrize("answer", ANSWERS)
async def test_the_answer_is_the_one_that_pydantic_ai_reads(answer: str) -> None:
    with provider([ANSWERS[answer], ANSWERS[answer]]) as stub:
        found: list[ModelResponse] = []
        for model in both(stub.url):
            async with model:
                found.append(await model_request(model, [PLAIN]))
    assert timeless(found[0]) == timeless(found[1])


ERRORS = {
    **{str(status): fails(status) for status in (400, 401, 402, 403, 404, 408, 413, 422, 429)},
    **{str(status): fails(status) for status in (500, 502, 503, 529)},
    "wait": fails(429, **{"retry-after": "7"}),
    "quota": Reply(status=429, body={"error": {"code": "insufficient_quota", "message": "pay"}}),
    "too long": Reply(status=400, body={"error": {"code": "context_length_exceeded"}}),
    "ollama": Reply(status=400, body={"error": "the input length exceeds the context length"}),
    "fastapi": Reply(status=404, body={"detail": "Not Found"}),
    "no object": Reply(status=500, body="broken"),
    "no answer": Reply(body={"error": {"message": "no"}}),
    "no choice": Reply(body={"choices": []}),
    "no message": Reply(body={"choices": [{}]}),
    "a list": Reply(body=[]),
}


@pytest.mark.parametrize("kind", ERRORS)
async def test_an_error_means_what_it_means_with_pydantic_ai(kind: str) -> None:
    found: list[tuple[Any, ...]] = []
    with provider([ERRORS[kind], ERRORS[kind]]) as stub:
        for model in both(stub.url):
            async with model:
                with pytest.raises(Exception) as raised:  # noqa: PT011 - both are compared
                    await model_request(model, [PLAIN])
            error = translate(raised.value, model.model_id)
            assert isinstance(error, ModelProviderError)
            assert "secret" not in str(error)
            found.append((error.code, error.retry_after, error.message))
    assert found[0] == found[1]


async def test_a_provider_that_is_not_there_was_never_asked() -> None:
    with provider([]) as stub:
        url = stub.url
    model = ChatModel("stub", base_url=url)
    with pytest.raises(ModelConnectionError) as raised:
        await model_request(model, [PLAIN])
    assert raised.value.phase == "connect"


async def test_what_is_no_json_cannot_be_read() -> None:
    with (
        provider([Reply(body="<html>")]) as stub,
        pytest.raises(UnexpectedModelBehavior, match="chat protocol"),
    ):
        await model_request(ChatModel("stub", base_url=stub.url), [PLAIN])


@pytest.mark.parametrize(
    ("messages", "settings"),
    [
        ([PLAIN], ModelSettings(tool_choice="none")),
        ([PLAIN], {"openai_reasoning_effort": "high"}),
        (
            [ModelRequest(parts=[UserPromptPart([BinaryContent(b"x", media_type="image/png")])])],
            ModelSettings(),
        ),
    ],
)  # fmt: skip
async def test_what_a_plain_chat_has_no_place_for_is_refused_before_it_is_sent(
    messages: list[ModelMessage], settings: ModelSettings
) -> None:
    with provider([]) as stub, pytest.raises(UserError, match="OpenAIChatModel"):
        await model_request(ChatModel("stub", base_url=stub.url), messages, model_settings=settings)
    assert not stub.requests


async def test_an_agent_calls_tools_and_is_told_of_mistakes() -> None:
    replies = [
        calls("find", {"word": "a"}),
        calls("final_result", {"verdict": "far too long a verdict"}),
        calls("final_result", {"verdict": "yes"}),
    ]
    with provider(replies) as stub:
        model = ChatModel("stub", base_url=stub.url)
        agent = Agent(model, output_type=Form)

        @agent.tool_plain
        def find(word: str) -> str:  # pyright: ignore[reportUnusedFunction]
            raise ModelRetry(f"not {word}")

        result = await agent.run("Which?")
    assert result.output.verdict == "yes"
    told = [each for each in stub.requests[-1]["messages"] if each["role"] == "tool"]
    assert "not a" in told[0]["content"]
    assert len(told) == 2


async def test_calls_keep_their_connections_for_the_next_and_close_them() -> None:
    with provider([says("Yes.")] * 16) as stub:
        model = ChatModel("stub", base_url=stub.url)
        async with model:
            for _ in range(2):
                async with anyio.create_task_group() as group:
                    for _ in range(8):
                        group.start_soon(model_request, model, [PLAIN])
            kept = [*model._idle]  # pyright: ignore[reportPrivateUsage]
            assert 1 <= len(kept) <= 8
            assert not any(client.is_closed for client in kept)
        assert all(client.is_closed for client in kept)
    assert len(stub.requests) == 16


OLLAMA = (
    "qwen3:8b", "QwQ", "llama3.2", "gemma3:4b", "deepseek-r1", "mistral-small", "command-r",
    "gpt-oss:20b", "phi4", "smollm2",
)  # fmt: skip


@pytest.mark.parametrize("name", OLLAMA)
def test_a_model_of_ollama_has_the_profile_that_pydantic_ai_gives_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:11434/v1")
    ours = provider_model(f"ollama:{name}").wrapped.wrapped  # pyright: ignore
    assert isinstance(ours, ChatModel)
    theirs = OpenAIChatModel(name, provider=OllamaProvider())
    assert (ours.model_id, ours.base_url) == (theirs.model_id, theirs.base_url)
    read = (
        "json_schema_transformer", "thinking_tags", "openai_chat_thinking_field",
        "openai_supports_strict_tool_definition", "openai_supports_tool_choice_required",
        "supports_forced_tool_choice", "openai_system_prompt_role", "supports_json_object_output",
        "openai_chat_supports_max_completion_tokens", "default_structured_output_mode",
        "openai_chat_supports_multiple_system_messages", "openai_unsupported_model_settings",
    )  # fmt: skip
    assert {key: ours.profile.get(key) for key in read} == {
        key: theirs.profile.get(key) for key in read
    }


@pytest.mark.parametrize(
    ("name", "url", "kind"),
    [
        ("openai-chat:qwen3", "http://127.0.0.1:8080/v1", ChatModel),
        ("openai-chat:gpt-4o", "https://llm.example.com/v1/", ChatModel),
        ("openai-chat:gpt-5", "https://llm.example.com/v1/", OpenAIChatModel),
        ("openai-chat:gpt-4o", "https://api.openai.com/v1", OpenAIChatModel),
        ("openai-chat:gpt-4o", "https://me.openai.azure.com/openai/v1", OpenAIChatModel),
    ],
)
def test_pydantic_ais_own_model_is_chosen_where_it_is_needed(
    name: str, url: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    model = provider_model(name)
    assert isinstance(model.wrapped.wrapped, kind)  # pyright: ignore
    assert model.model_id == name.replace("-chat", "")
