"""Providers' errors: understood, recovered from, and other models that stand in."""

from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain, Document, RunResult
from sifaka.calls.breakers import Breakers
from sifaka.errors import ModelProviderError
from sifaka.models.metered import ATTEMPTS
from sifaka.models.provider_errors import translate
from sifaka.retrievers.mock import MockRetriever
from tests.stubs.writer import Writer

pytestmark = pytest.mark.anyio

TOO_LONG: dict[str, tuple[int, object]] = {
    "openai": (400, {"message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", "code": "context_length_exceeded"}),
    "openai input": (400, {"message": "Input tokens exceed the configured limit of 272000 tokens.", "code": "invalid_request_error"}),
    "anthropic": (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}}),
    "anthropic with answer": (400, {"error": {"message": "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000"}}),
    "google": (400, {"error": {"status": "INVALID_ARGUMENT", "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575)."}}),
    "ollama": (400, {"error": "the input length exceeds the context length"}),
    "ollama server": (500, {"error": "the request exceeds the available context size"}),
    "vllm": (400, {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"}),
    "vllm decoder": (400, {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096."}),
    "llama.cpp": (400, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the available context size, try increasing it"}}),
    "llama.cpp with numbers": (400, {"message": "request (8000 tokens) exceeds the available context size (4096 tokens)"}),
    "mistral": (400, {"message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}),
    "groq": (413, {"error": {"message": "Please reduce the length of the messages or completion."}}),
    "cohere": (400, {"message": "too many tokens: total number of tokens in the prompt cannot exceed 4081"}),
    "bedrock": (400, {"message": "Input is too long for requested model."}),
    "xai": (400, {"error": "This model's maximum prompt length is 131072 but the request contains 140000 tokens."}),
    "tgi": (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096"}),
    "lm studio": (400, {"error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}),
}  # fmt: skip
OTHERS: dict[str, tuple[int, object, str]] = {
    "temperature": (400, {"message": "temperature must be at most 1"}, "unknown"),
    "empty": (400, None, "unknown"),
    "max_tokens": (400, {"message": "max_tokens must be positive"}, "unknown"),
    "filter": (400, {"error": {"code": "content_filter", "message": "see our policy"}}, "content_filter"),
    "azure": (400, {"innererror": {"code": "ResponsibleAIPolicyViolation"}}, "content_filter"),
    "server": (500, {"error": "out of memory"}, "server"),
    "rate": (429, {"message": "Rate limit: too many tokens per minute"}, "rate_limit"),
}  # fmt: skip


def translated(status: int, body: object) -> ModelProviderError:
    error = translate(ModelHTTPError(status, "m", body), "openai:m")
    assert isinstance(error, ModelProviderError)
    return error


@pytest.mark.parametrize("provider", TOO_LONG)
def test_a_request_that_is_too_long_is_understood(provider: str) -> None:
    error = translated(*TOO_LONG[provider])
    assert error.error_code == "context_window"
    assert "shorten the text" in (error.suggestion or "")


@pytest.mark.parametrize("kind", OTHERS)
def test_another_error_is_not_taken_for_it(kind: str) -> None:
    status, body, code = OTHERS[kind]
    assert translated(status, body).error_code == code


def test_a_plain_400_is_not_called_a_content_filter() -> None:
    error = translated(400, {"message": "sk-secret is not a temperature"})
    assert "filter" not in str(error)
    assert "secret" not in str(error)


def small(chars: int) -> FunctionModel:
    """A model whose context has room for so many characters beside the instructions."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompt = str(getattr(messages[-1].parts[-1], "content", ""))
        if len(prompt) > chars:
            raise ModelHTTPError(*TOO_LONG["llama.cpp"][:1], "m", TOO_LONG["llama.cpp"][1])
        return ModelResponse(parts=[TextPart(f"A text of {len(prompt)} characters of prompt.")])

    return FunctionModel(answer)


async def test_what_is_too_long_is_written_shorter_or_in_smaller_sections() -> None:
    found = MockRetriever(documents=(Document(id="d", text="A long document. " * 500),))
    chain = Chain(model=small(3_000), critics=[], retrievers=[found])
    result = await chain.run_with_recovery("Write about it.")
    assert (result.status, result.run.failures) == ("done", 2)
    assert result.text.startswith("A text of ")
    assert [r.strategy for r in result.run.recoveries] == ["shorter_context"] * 2

    parts = [f"# Part {n}\n\n" + f"Part {n} has words of its own. " * 60 for n in range(4)]
    chain = Chain(model=small(2_500), critics=[], validators=[{"type": "length", "max_words": 90}])
    result = await chain.run_with_recovery("Shorten it.", text="\n\n".join(parts))
    assert result.run.recoveries
    assert result.status == "done"
    assert len(result.run.thoughts) > 1


@pytest.mark.parametrize(
    ("status", "code", "retried"),
    [
        (408, "timeout", True),
        (409, "server", True),
        (425, "server", True),
        (413, "context_window", False),
    ],
)
def test_what_a_status_says_holds_whatever_the_body_is(
    status: int, code: str, retried: bool
) -> None:
    error = translated(status, {"error": "no words that anybody knows"})
    assert (error.error_code, error.retryable) == (code, retried)


RULES = [{"type": "length", "max_words": 2}]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go_on(seconds: float) -> None:
        del seconds

    monkeypatch.setattr("sifaka.models.metered.anyio.sleep", go_on)


def refused(status: int, name: str = "first") -> Writer:
    return Writer(ModelHTTPError(status, "stub"), name=name)


async def shortened(first: Writer, *others: Writer, **settings: Any) -> RunResult:
    models = [each.model for each in others]
    chain = Chain(
        model=first.model, fallback_models=models, validators=RULES, critics=[], **settings
    )
    return await chain.run(text="a b c")


async def test_models_are_tried_in_turn_and_one_budget_counts_the_attempts() -> None:
    first, second = refused(401), Writer("a b", name="second")
    result = await shortened(first, second)
    assert (result.text, result.status) == ("a b", "done")
    assert (len(first.asked), len(second.asked)) == (1, 1)
    assert result.thought.author == "function:second"
    assert "function:second answered 1 calls in place of a model that failed" in result.degraded

    result = await shortened(refused(401, "one"), refused(404, "two"))
    assert result.status == "failed"
    assert result.error is not None
    assert "function:one: the provider refused the credentials" in result.error
    assert "function:two: the provider does not know the model" in result.error
    assert result.run.error_code == "not_found"

    second = Writer("a b")
    result = await shortened(refused(503), second, budget=Budget(max_calls=ATTEMPTS))
    assert (result.stop_reason, result.usage.model_calls) == ("budget_calls", ATTEMPTS)
    assert second.asked == []


async def test_a_provider_that_keeps_failing_is_left_alone_and_the_next_is_asked_at_once() -> None:
    first, second = refused(503), Writer("a b", name="second")
    breakers = Breakers(threshold=ATTEMPTS, cooldown=1000)
    # Both are models of one provider here, `function`, so the breaker of one is that of the other.
    result = await shortened(first, second, breakers=breakers)
    assert len(first.asked) == ATTEMPTS
    assert result.run.error_code == "server", "what a breaker keeps from being asked says nothing"
    again = await shortened(first, second, breakers=breakers)
    assert (len(first.asked), second.asked) == (ATTEMPTS, [])
    assert again.run.error_code == "circuit_open"


async def test_an_error_has_no_price() -> None:
    flaky = Writer(ModelHTTPError(503, "stub"), "a b")
    result = await shortened(flaky, budget=Budget(max_calls=5))
    assert (result.status, result.usage.model_calls) == ("done", 2)
