"""A local model that calls no tools is asked for JSON, and its word on facts does not count."""

import json
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import pytest

from sifaka import Chain
from sifaka.models.provider import Connections, is_local
from tests.stubs.provider import Provider, Reply, calls, fails, opinion, provider, says, told_of

pytestmark = pytest.mark.anyio

STUB = "openai-chat:stub"
PROSE = says("The text is fine.")
OPINION = json.dumps({"verdict": "accept", "suggestions": ["say less"]})


class Asking(Protocol):
    def __call__(self, *replies: Reply) -> AbstractAsyncContextManager[tuple[Provider, Chain]]: ...


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> Asking:
    """A provider, and a chain whose critic asks it."""

    @asynccontextmanager
    async def asked(*replies: Reply) -> AsyncGenerator[tuple[Provider, Chain]]:
        with provider(replies) as served:
            told_of(served, monkeypatch)
            async with Connections() as connections:
                yield (
                    served,
                    Chain(model=STUB, critics=["self_refine"], connections=connections),
                )

    return asked


async def test_one_that_calls_tools_is_asked_by_tools(asking: Asking) -> None:
    async with asking(opinion("accept"), opinion("accept")) as (served, chain):
        for _ in range(2):
            assert (await chain.run(text="A text.")).passed
    for request in served.requests:
        assert [each["function"]["name"] for each in request["tools"]] == ["answer"]


@pytest.mark.parametrize("first", [PROSE, fails(400)])
async def test_one_that_does_not_is_asked_for_json_by_its_schema_from_then_on(
    asking: Asking, first: Reply
) -> None:
    async with asking(first, says(OPINION), says(OPINION)) as (served, chain):
        result = await chain.run(text="A text.")
        await chain.run(text="Another text.")
    assert result.run.thoughts[0].critic_feedback[0].suggestions == ("say less",)
    assert result.usage.model_calls == 2
    assert ["tools" in request for request in served.requests] == [True, False, False]
    schema = served.requests[1]["response_format"]["json_schema"]["schema"]
    assert "verdict" in schema["required"]
    system, question = served.requests[1]["messages"]
    assert (system["role"], question["role"]) == ("system", "user")
    assert json.dumps(schema) in system["content"], "for engines that ignore it"


SHORTER = "The tower is tall."
"""It loses the only figure."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "kept"),
    [
        ([], SHORTER),
        ([fails(400)], SHORTER),  # the engine knows no tools; the model has not been tried
        ([PROSE], "The tower is 40 m tall."),
    ],
)
async def test_where_a_model_has_not_called_its_tool_nothing_is_lost_on_its_word(
    asking: Asking, first: list[Reply], kept: str
) -> None:
    review = {"verdict": "accept", "scores": {"fulfils the task": 1.0}, "better": "text"}
    said = says(json.dumps(review)) if first else opinion("accept")
    compared = calls("answer", {"better": "neither"})
    async with asking(says(SHORTER), *first, said, compared) as (_, chain):
        chain = chain.replace(max_iterations=1)
        result = await chain.run("Make it shorter.", text="The tower is 40 m tall.")
        assert result.text == kept
        assert any("facts=require" in line for line in result.degraded) == (kept != SHORTER)
        assert (await chain.replay(result.run_id)).exact


async def test_an_engine_that_refuses_schemas_is_asked_by_the_prompt_alone(asking: Asking) -> None:
    async with asking(PROSE, fails(400), says(OPINION)) as (served, chain):
        result = await chain.run(text="A text.")
    assert result.passed
    asked = [("tools" in each, "response_format" in each) for each in served.requests]
    assert asked == [(True, False), (False, True), (False, False)]
    assert result.usage.model_calls == 3, "a refused call is a call"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://localhost:11434/v1", True),
        ("http://192.168.1.7/v1", True),
        ("http://gpu:8000/v1", True),
        ("http://host.docker.internal:11434/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://openrouter.ai/api/v1", False),
        ("http://8.8.8.8/v1", False),
        ("", False),
        (None, False),
    ],
)
def test_a_provider_is_local_by_its_address(url: str | None, expected: bool) -> None:
    assert is_local(url) is expected
