"""The attributes of a model call by the conventions for generative AI."""

import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from sifaka.calls.monitoring import answered, asked


@pytest.mark.parametrize(
    ("provider", "told"),
    [("openai-chat", "openai"), ("anthropic", "anthropic"), ("google-gla", "gcp.gemini")],
)
def test_providers_have_the_names_of_the_conventions(provider: str, told: str) -> None:
    assert asked("m", provider, None, None) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": told,
        "gen_ai.request.model": "m",
    }


def test_settings_and_the_place_of_a_call_are_told_and_nothing_else_of_them() -> None:
    told = asked(
        "m",
        "ollama",
        "https://user:secret@models.example/v1?key=secret",
        {"max_tokens": 7, "temperature": 0.5, "extra_headers": {"x": "secret"}, "top_p": None},
    )
    assert told["server.address"] == "models.example"
    assert told["server.port"] == 443
    assert (told["gen_ai.request.max_tokens"], told["gen_ai.request.temperature"]) == (7, 0.5)
    assert "secret" not in str(told)
    assert "gen_ai.request.top_p" not in told


def test_an_answer_tells_what_it_knows() -> None:
    usage = RequestUsage(input_tokens=3, output_tokens=2)
    assert answered(ModelResponse(parts=[], usage=usage)) == {
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
    }
