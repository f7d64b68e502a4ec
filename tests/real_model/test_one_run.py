"""A real model writes, criticises, calls or does not call tools, is slow, and counts tokens."""

import json

import httpx2
import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel

from sifaka import Budget, Chain, critique, improve
from sifaka.models.provider import Connections, provider_model
from tests.real_model.engine import Served

pytestmark = [pytest.mark.anyio, pytest.mark.model, pytest.mark.timeout(1800)]

TEXT = (
    "Our support team answers most questions within 4 hours on working days. If you need an answer "
    "faster than that, you can call us, which costs 6 dollars, or read https://help.example.com."
)
TASK = 'Rewrite this in a friendlier tone. Begin with "Hello".'
RULES = [{"type": "regex", "must_match": [r"\AHello"]}]
CRITICS = (
    "lint",
    "self_refine",
    "reflexion",
    "constitutional",
    "self_rag",
    "self_consistency",
    "meta_rewarding",
    "n_critics",
    {"type": "prompt", "rubric": "Is it friendly?"},
)


async def test_a_text_is_improved_and_never_damaged(model: OpenAIChatModel) -> None:
    async with Connections() as connections:
        result = await improve(
            TEXT,
            prompt=TASK,
            model=model,
            validators=RULES,
            budget=Budget(max_calls=3),
            connections=connections,
        )
    assert result.status in {"done", "failed"}
    assert result.usage.model_calls <= 3
    if result.changed:
        assert all(fact in result.text for fact in ("4", "6", "https://help.example.com"))


@pytest.mark.parametrize("critic", CRITICS, ids=lambda c: c if isinstance(c, str) else c["type"])
async def test_each_critic_has_an_opinion_or_says_why_not(
    model: OpenAIChatModel, critic: str | dict[str, object]
) -> None:
    async with Connections() as connections:
        review = await critique(TEXT, [critic], model=model, prompt=TASK, connections=connections)
    (feedback,) = review.feedback
    assert feedback.status == "ok" or feedback.reason
    assert all(issue.quote in TEXT for issue in feedback.issues if issue.start is not None)


async def test_a_structured_answer_ends_with_a_verdict_or_an_abstention(
    model: OpenAIChatModel,
) -> None:
    async with Connections() as connections:
        chain = Chain(
            model=model,
            critics=["self_refine"],
            connections=connections,
            budget=Budget(max_calls=2),
        )
        result = await chain.run(text=TEXT)  # with a task it would be written anew first
    (feedback,) = result.run.thoughts[0].critic_feedback
    assert feedback.status == "ok", "an engine that enforces a schema gives what fits it"


async def test_the_answer_streams(model: OpenAIChatModel) -> None:
    request: list[ModelMessage] = [ModelRequest.user_text_prompt(f"{TASK}\n\n{TEXT}")]
    async with (
        provider_model(model) as opened,
        opened.request_stream(request, None, ModelRequestParameters()) as stream,
    ):
        events = [event async for event in stream]
    assert events
    assert stream.get().parts


async def test_a_model_that_is_too_slow_ends_in_time_with_the_text_as_it_was(
    model: OpenAIChatModel,
) -> None:
    chain = Chain(
        model=model,
        validators=RULES,
        critics=["self_refine"],
        budget=Budget(max_seconds=0.05),
    )
    result = await chain.run(TASK, text=TEXT)
    assert (result.status, result.stop_reason) == ("done", "budget_seconds")
    assert result.text == TEXT


async def test_tokens_are_counted_as_the_engine_counts_them(
    model: OpenAIChatModel, served: Served
) -> None:
    async with Connections() as connections:
        chain = Chain(model=model, critics=["lint"], connections=connections, validators=RULES)
        result = await chain.replace(budget=Budget(max_calls=1)).run(TASK, text=TEXT)
    (call,) = result.run.calls
    answer = json.loads(call.response)
    assert result.usage.input_tokens == answer["usage"]["input_tokens"]
    assert result.usage.output_tokens == answer["usage"]["output_tokens"]
    said = "".join(part["content"] for part in answer["parts"] if part["part_kind"] == "text")
    async with httpx2.AsyncClient() as client:
        url = served.url.removesuffix("/v1") + "/tokenize"
        response = await client.post(url, json={"content": said})
    if response.status_code == 200:  # llama.cpp has it; the last token ends the answer
        counted = len(response.json()["tokens"])
        assert 0 <= result.usage.output_tokens - counted <= 1


async def test_log_probabilities_come_where_the_engine_has_them(served: Served) -> None:
    async with httpx2.AsyncClient(timeout=600) as client:
        body = {
            "model": served.model,
            "messages": [{"role": "user", "content": "Say yes."}],
            "max_tokens": 3,
            "logprobs": True,
        }
        response = await client.post(f"{served.url}/chat/completions", json=body)
    assert response.status_code == 200
    choice = response.json()["choices"][0]
    if choice.get("logprobs") is not None:
        assert all(token["logprob"] <= 0 for token in choice["logprobs"]["content"])
