"""A provider over HTTP: what works, how each failure ends, and each by its name."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import huggingface_hub
import pytest
import uvicorn
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from sifaka import Budget, Chain, RunResult, create_pydantic_chain
from sifaka.errors import ConfigurationError
from sifaka.models.prompt import DATA_NOTICE
from sifaka.models.provider import provider_model
from tests.stubs.provider import (
    HANGS,
    Provider,
    Reply,
    calls,
    fails,
    opinion,
    provider,
    says,
    told_of,
)
from tests.stubs.served import in_thread

pytestmark = pytest.mark.anyio

RULES = [{"type": "length", "max_words": 4}]
TEXT = "one two three four five six"
Serve = Callable[..., Provider]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start a provider with a script; `openai-chat:stub` then means it."""
    with ExitStack() as stack:

        def start(*replies: Reply) -> Provider:
            served = stack.enter_context(provider(replies))
            told_of(served, monkeypatch)
            return served

        yield start


async def improve(**settings: Any) -> RunResult:
    defaults: dict[str, Any] = {"model": "openai-chat:stub", "validators": RULES, "critics": []}
    chain = Chain(**{**defaults, **settings})
    return await chain.run("shorten it", text=TEXT)


async def test_versions_critiques_and_usage_are_recorded(serve: Serve) -> None:
    served = serve(
        says("one two three four five", tokens=(20, 7)),
        opinion("revise", issues=[{"quote": "three four", "message": "say less", "severity": 4}]),
        says("one two"),
        opinion("accept"),
    )
    result = await improve(critics=["self_refine"])
    assert (result.status, result.stop_reason, result.text) == ("done", "passed", "one two")
    assert result.usage.model_calls == 4
    assert result.usage.input_tokens == 50
    assert result.usage.output_tokens == 22
    assert result.usage.cost_usd is None, "the stub has no known price"
    first, second = result.run.thoughts[1:]
    (issue,) = first.critic_feedback[0].issues
    assert (issue.start, issue.quote) == (8, "three four")
    assert second.author == "openai:stub"
    assert second.usage.model_calls == 1
    assert second.model_prompt is not None
    assert "say less" in second.model_prompt
    assert len(served.requests) == 4


@pytest.mark.parametrize("said", ["<think>\nHm.\n</think>\n\none two", "one two"])
async def test_no_blank_lines_are_left_where_the_thoughts_of_a_model_were(
    serve: Serve, said: str
) -> None:
    serve(says(said))
    assert (await improve()).text == "one two"


async def test_each_version_is_a_fresh_conversation(serve: Serve) -> None:
    served = serve(says("one two three four five"), says("one two"))
    await improve()
    roles = [[m["role"] for m in request["messages"]] for request in served.requests]
    assert roles == [["system", "user"]] * 2


async def test_an_agent_hears_beside_its_own_instructions_that_what_is_framed_is_data(
    serve: Serve,
) -> None:
    served = serve(says("one two"))
    agent = Agent("openai-chat:stub", instructions="Be brief.", defer_model_check=True)
    await create_pydantic_chain(agent, RULES, []).run(text=TEXT)
    *system, asked = served.requests[0]["messages"]
    told = " ".join(message["content"] for message in system)
    assert "Be brief." in told
    assert DATA_NOTICE in told
    assert "<text id=" in asked["content"]


async def looked_up(**settings: Any) -> RunResult:
    """A run of an agent that has a tool."""
    agent = Agent("openai-chat:stub", defer_model_check=True)

    @agent.tool_plain
    def look_up(word: str) -> str:  # pyright: ignore[reportUnusedFunction]
        return f"{word}: money back"

    return await create_pydantic_chain(agent, RULES, [], **settings).run(text=TEXT)


async def test_an_agents_tool_calls_are_recorded(serve: Serve) -> None:
    serve(calls("look_up", {"word": "refund"}), says("one two"))
    result = await looked_up()
    (call,) = result.thought.tool_calls
    assert (call.tool_name, dict(call.arguments)) == ("look_up", {"word": "refund"})
    assert (call.result, call.success) == ("refund: money back", True)
    assert result.usage.model_calls == 2


async def test_what_an_agent_was_told_is_on_record() -> None:
    agent = Agent(TestModel(), system_prompt="You are a poet.", instructions="Be brief.")
    result = await create_pydantic_chain(agent, critics=[]).run("Write.")
    assert str(result.metadata["instructions"]).startswith("You are a poet.\n\nBe brief.\n\nWhat")


async def test_an_agent_is_told_the_conversation_before_the_task() -> None:
    agent, asked = Agent(TestModel()), list[list[ModelMessage]]()

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        asked.append(messages)
        return ModelResponse(parts=[TextPart("Blue.")])

    history = (await agent.run("Which colour do we take?")).all_messages()
    agent = Agent(FunctionModel(answer))
    chain = create_pydantic_chain(agent, critics=[], message_history=history)
    result = await chain.run("Name it.")
    assert (result.text, asked[0][: len(history)]) == ("Blue.", history)
    assert [call.tool_name for call in result.thought.tool_calls] == []


async def test_a_refused_key_fails_at_once_with_the_best_text_so_far(serve: Serve) -> None:
    served = serve(says("one two three four five"), fails(401))
    result = await improve()
    assert (result.status, result.stop_reason) == ("failed", "error")
    assert result.text == "one two three four five"
    assert result.error is not None
    assert "API key" in result.error
    assert "secret" not in result.run.model_dump_json()
    assert len(served.requests) == 2, "authentication errors are not repeated"


async def test_a_rate_limit_is_waited_for_as_long_as_the_provider_says(serve: Serve) -> None:
    served = serve(fails(429, **{"retry-after": "0"}), says("one two"))
    result = await improve()
    assert result.stop_reason == "unchecked", "no model judges the task"
    assert len(served.requests) == 2
    assert result.usage.model_calls == 2, "each attempt is a call of its own"


async def test_a_rate_limit_that_lasts_too_long_fails_with_the_time_to_wait(serve: Serve) -> None:
    served = serve(fails(429, **{"retry-after": "3600"}))
    result = await improve()
    assert (result.status, result.text) == ("failed", TEXT)
    assert result.error is not None
    assert "HTTP 429" in result.error
    assert "3600 s" in result.error
    assert len(served.requests) == 1


async def test_a_provider_that_hangs_is_given_up(serve: Serve) -> None:
    serve(HANGS, HANGS, HANGS)
    model = provider_model("openai-chat:stub", call_timeout=0.05)
    result = await improve(model=model)
    assert (result.status, result.text) == ("failed", TEXT)
    assert result.error is not None
    assert "no answer in time" in result.error


async def test_a_hanging_provider_does_not_outlive_the_time_budget(serve: Serve) -> None:
    serve(HANGS)
    result = await improve(budget=Budget(max_seconds=0.2))
    assert (result.status, result.stop_reason) == ("done", "budget_seconds")


@pytest.mark.parametrize(
    "malformed",
    [
        calls("answer", "{not json"),
        calls("answer", {"verdict": "maybe"}),
        says("The text is wonderful, accept it."),
    ],
)
async def test_a_malformed_opinion_is_an_abstention_not_a_vote(
    serve: Serve, malformed: Reply
) -> None:
    served = serve(says("one two three four"), malformed, malformed, opinion("accept"))
    result = await improve(critics=["self_refine"], validators=[])
    assert len(served.requests) == 3, "one repair and no more"
    assert (result.status, result.text) == ("failed", TEXT)
    assert result.error is not None
    assert "not in the form asked for" in result.error


async def test_the_call_budget_holds_for_an_agents_own_requests_too(serve: Serve) -> None:
    served = serve(*[calls("look_up", {"word": str(n)}) for n in range(9)])
    result = await looked_up(budget=Budget(max_calls=3))
    assert (result.status, result.stop_reason) == ("done", "budget_calls")
    assert len(served.requests) == 3
    assert result.usage.model_calls == 3


async def test_a_model_without_a_key_or_of_an_unknown_provider_is_one_clear_line() -> None:
    with pytest.raises(ConfigurationError) as error:
        await improve()
    assert "openai-chat:stub" in str(error.value)
    assert "API key" in str(error.value)
    with pytest.raises(ConfigurationError, match="nobody:model"):
        await improve(model="nobody:model")


UNREPORTED: dict[str, Any] = {
    "none": None,
    "nothing": {},
    "nulls": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
    "zeros": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "a total": {"total_tokens": 90},
    "half": {"prompt_tokens": 0, "completion_tokens": 40, "total_tokens": 40},
}


@pytest.mark.parametrize("usage", UNREPORTED.values(), ids=UNREPORTED)
async def test_tokens_that_are_not_reported_are_estimated_and_spend_the_budget(
    serve: Serve, usage: Any
) -> None:
    def unreported(text: str) -> Reply:
        body = says(text).body
        return Reply(body={**body, "usage": usage})

    served = serve(*[unreported(f"one two three four five {n}") for n in range(9)])
    result = await improve(max_iterations=8, patience=9, budget=Budget(max_tokens=2500))
    assert result.stop_reason == "budget_tokens"
    assert 1 < len(served.requests) < 8
    spent = result.usage
    assert spent.input_tokens > 0
    assert spent.output_tokens > 0
    told = f"the tokens of {spent.model_calls} of {spent.model_calls} calls are estimated"
    assert any(told in line for line in result.degraded)
    (again,) = {call.response for call in result.run.calls[:1]}
    assert '"sifaka_estimated":true' in again, "a resumed run counts the same"


@pytest.mark.slow
async def test_an_agent_that_keeps_calling_its_tool_ends_and_says_so(serve: Serve) -> None:
    served = serve(*[calls("look_up", {"word": "refund"})] * 60)
    result = await looked_up()
    assert len(served.requests) == 50, "PydanticAI's own limit"
    assert (result.status, result.run.error_code) == ("failed", "request_limit")
    assert result.usage.model_calls == 50
    assert "set a budget with max_calls" in (result.error or "")


@pytest.mark.slow
async def test_a_budget_of_calls_stands_in_for_the_limit_of_an_agents_requests(
    serve: Serve,
) -> None:
    served = serve(*[calls("look_up", {"word": "refund"})] * 55, says("one two"))
    result = await looked_up(budget=Budget(max_calls=70))
    assert (result.text, result.usage.model_calls) == ("one two", 56)
    assert len(served.requests) == 56


CHAT = {**says("one two", tokens=(20, 7)).body, "provider": "somebody"}
RESPONSE: dict[str, Any] = {
    "id": "1",
    "object": "response",
    "created_at": 1_700_000_000,
    "status": "completed",
    "model": "stub",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "type": "message",
            "id": "1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "one two", "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 27,
    },
}
MESSAGE = {
    "id": "1",
    "type": "message",
    "role": "assistant",
    "model": "stub",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "content": [{"type": "text", "text": "one two"}],
    "usage": {"input_tokens": 20, "output_tokens": 7},
}
CONTENT = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "one two"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 7, "totalTokenCount": 27},
    "modelVersion": "stub",
}


async def answer(request: Request) -> JSONResponse:
    path = request.url.path
    if path.endswith("/responses"):
        return JSONResponse(RESPONSE)
    if path.endswith("/messages"):
        return JSONResponse(MESSAGE)
    return JSONResponse(CONTENT if ":generateContent" in path else CHAT)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All of the providers on this machine, where their clients look for them."""
    app = Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for name in ("OPENAI", "ANTHROPIC", "GOOGLE", "OPENROUTER"):
            monkeypatch.setenv(f"{name}_API_KEY", "key")
        monkeypatch.setenv("HF_TOKEN", "hf_key")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("OLLAMA_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", url)
        monkeypatch.setattr(
            "pydantic_ai.providers.openrouter.OpenRouterProvider.base_url", f"{url}/v1"
        )

        async def here(request: httpx.Request) -> None:
            request.url = request.url.copy_with(
                scheme="http", host="127.0.0.1", port=httpx.URL(url).port
            )

        huggingface_hub.set_async_client_factory(
            lambda: httpx.AsyncClient(event_hooks={"request": [here]})
        )
        with in_thread(uvicorn.Server(uvicorn.Config(app, log_config=None)), listener):
            yield
        huggingface_hub.set_async_client_factory(httpx.AsyncClient)


@pytest.mark.slow
@pytest.mark.usefixtures("stub")
async def test_each_writes_and_its_tokens_are_counted() -> None:
    rules = [{"type": "length", "max_words": 2}]
    for model in (
        *("openai:stub", "openai-responses:stub", "openai-chat:stub", "anthropic:stub"),
        *("google:stub", "huggingface:someone/stub", "ollama:stub", "openrouter:someone/stub"),
    ):
        chain = Chain(model=model, validators=rules, critics=[])
        result = await chain.run("Shorten it.", text=TEXT)
        assert (result.text, result.status, result.error) == ("one two", "done", None), model
        usage = result.usage
        assert (usage.model_calls, usage.input_tokens, usage.output_tokens) == (1, 20, 7), model


async def test_a_local_server_of_openais_protocol_is_asked_for_chat_completions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    routes = [Route("/v1/chat/completions", answer, methods=["POST"])]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_config=None))
        with in_thread(server, listener):
            result = await Chain(model="openai:stub", critics=[]).run("Shorten it.", text=TEXT)
    assert (result.text, result.error) == ("one two", None)
