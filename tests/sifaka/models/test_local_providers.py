"""A local provider is asked once what it can do; each call is made as that allows."""

import json
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import pytest

from sifaka import Budget, Chain
from sifaka.models.local import Abilities, LocalProviders, is_local, rate_of
from sifaka.models.provider import Connections
from tests.stubs.provider import (
    ABLE,
    Gate,
    Provider,
    Reply,
    calls,
    fails,
    opinion,
    provider,
    says,
    told_of,
)

pytestmark = pytest.mark.anyio

STUB = "openai-chat:stub"
PROSE = says("The second is larger.", tokens=(30, 10_000))
OPINION = json.dumps({"verdict": "accept", "suggestions": ["say less"]})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "local_providers.json"


class Asking(Protocol):
    def __call__(
        self, *replies: Reply, probe: Reply = ABLE
    ) -> AbstractAsyncContextManager[tuple[Provider, Chain]]: ...


@pytest.fixture
def asking(file: Path, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """A provider, and a chain whose critic asks it."""

    @asynccontextmanager
    async def asked(*replies: Reply, probe: Reply = ABLE) -> AsyncGenerator[tuple[Provider, Chain]]:
        with provider(replies, probe) as served:
            told_of(served, monkeypatch)
            async with Connections(LocalProviders(file)) as connections:
                chain = Chain(model=STUB, critics=["self_refine"], connections=connections)
                yield served, chain

    return asked


async def test_one_that_calls_tools_is_asked_by_tools(file: Path, asking: Asking) -> None:
    async with asking(opinion("accept")) as (served, chain):
        result = await chain.run(text="A text.")
    assert result.passed
    assert [request["tools"][0]["function"]["name"] for request in served.requests] == ["answer"]
    assert len(served.probes) == 1


@pytest.mark.parametrize(
    "probe", [PROSE, fails(400), calls("answer", {"larger": "third"}), calls("answer", "{")]
)
async def test_one_that_does_not_is_asked_for_json_by_its_schema(
    asking: Asking, probe: Reply
) -> None:
    async with asking(says(OPINION), probe=probe) as (served, chain):
        result = await chain.run(text="A text.")
    assert result.run.thoughts[0].critic_feedback[0].suggestions == ("say less",)
    (request,) = served.requests
    assert "tools" not in request
    schema = request["response_format"]["json_schema"]["schema"]
    assert "verdict" in schema["required"]
    system, question = request["messages"]
    assert (system["role"], question["role"]) == ("system", "user")
    assert json.dumps(schema) in system["content"], "for engines that ignore it"


SHORTER = "The tower is tall."
"""It loses the only figure."""


@pytest.mark.parametrize(
    ("probe", "kept"),
    [
        (ABLE, SHORTER),
        (fails(400), SHORTER),  # the engine knows no tools; the model has not been tried
        (PROSE, "The tower is 40 m tall."),
    ],
)
async def test_where_a_model_has_shown_no_abilities_nothing_is_lost_on_its_word(
    asking: Asking, probe: Reply, kept: str
) -> None:
    review = {"verdict": "accept", "scores": {"fulfils the task": 1.0}, "better": "text"}
    said = opinion("accept") if probe is ABLE else says(json.dumps(review))
    async with asking(says(SHORTER), said, says(SHORTER), probe=probe) as (_, chain):
        chain = chain.replace(max_iterations=1)
        result = await chain.run("Make it shorter.", text="The tower is 40 m tall.")
        assert result.text == kept
        assert any("facts=require" in line for line in result.degraded) == (kept != SHORTER)
        assert (await chain.replay(result.run_id)).exact


async def test_an_engine_that_refuses_schemas_is_asked_by_the_prompt_alone(
    file: Path, asking: Asking
) -> None:
    replies = (fails(400), says(OPINION))
    async with asking(*replies, probe=PROSE) as (served, chain):
        result = await chain.run(text="A text.")
    assert result.passed
    assert ["response_format" in request for request in served.requests] == [True, False]
    assert result.usage.model_calls == 3, "a refused call is a call, and so is the first question"


@pytest.mark.parametrize(("most", "probes"), [(1, 0), (2, 1), (None, 1)])
async def test_the_question_is_charged_where_there_is_room_for_it(
    asking: Asking, most: int | None, probes: int
) -> None:
    async with asking(opinion("accept")) as (served, chain):
        result = await chain.replace(budget=Budget(max_calls=most)).run(text="A text.")
    assert result.passed
    assert result.usage.model_calls == 1 + probes
    assert len(result.run.calls) == 1, "it is not on record"
    assert len(served.probes) == probes


async def test_it_is_asked_once_by_parallel_calls_and_by_later_processes(
    file: Path, asking: Asking
) -> None:
    critics = ["self_refine", "reflexion", "constitutional", "self_rag"]
    async with asking(*[opinion("accept")] * 40) as (served, chain):
        await chain.replace(critics=critics).run(text="A text.")
        async with Connections(LocalProviders(file)) as later:
            await chain.replace(connections=later).run(text="A text.")
    assert len(served.probes) == 1


async def test_what_is_old_or_damaged_is_asked_again(file: Path, asking: Asking) -> None:
    async with asking(*[opinion("accept")] * 3) as (served, chain):
        long_ago = datetime.now(UTC) - timedelta(days=8)
        write(file, {f"{served.url}/ stub": Abilities(tokens_per_second=1, asked_at=long_ago)})
        await chain.run(text="A text.")
        write(file, {})
        file.write_text("{", encoding="utf-8")  # noqa: ASYNC240 - a small file
        async with Connections(LocalProviders(file)) as later:
            await chain.replace(connections=later).run(text="A text.")
    assert len(served.probes) == 2


async def test_one_that_does_not_answer_is_asked_again_and_nothing_is_kept(
    file: Path, asking: Asking
) -> None:
    replies = [opinion("accept")] * 2
    async with asking(*replies, probe=fails(503)) as (served, chain):
        assert (await chain.run(text="A text.")).passed
        assert (await chain.run(text="A text.")).passed
    assert len(served.probes) == 2
    assert not file.exists()  # noqa: ASYNC240 - a small file


async def test_without_a_place_to_keep_it_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with provider([opinion("accept")]) as served:
        told_of(served, monkeypatch)
        result = await Chain(model=STUB, critics=["self_refine"]).run(text="A text.")
    assert result.passed
    assert served.probes == []


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
def test_providers_elsewhere_are_asked_nothing(url: str | None, expected: bool) -> None:
    assert is_local(url) is expected


@pytest.mark.parametrize(
    ("rate", "seconds", "parallel"), [(500.0, 120, 16), (20.0, 409.6, 2), (0.5, 1800, 2)]
)
def test_a_slow_one_gets_more_time_and_fewer_calls_at_once(
    rate: float, seconds: float, parallel: int
) -> None:
    found = Abilities(tokens_per_second=rate, asked_at=datetime.now(UTC))
    assert (found.call_timeout, found.parallel) == (seconds, parallel)


@pytest.mark.parametrize(
    ("tokens", "seconds", "parallel"), [(7, 0.2, 16), (7, 0.6, 16), (7, 1.5, 2), (16, 5.0, 2)]
)
def test_one_that_is_far_away_is_not_slow(tokens: int, seconds: float, parallel: int) -> None:
    rate = rate_of(tokens, seconds)
    found = Abilities(tokens_per_second=rate, asked_at=datetime.now(UTC))
    assert found.parallel == parallel


async def test_calls_to_a_slow_one_wait_for_their_turn(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Abilities(tokens_per_second=1, asked_at=datetime.now(UTC))
    gates = [Gate() for _ in range(5)]
    replies = [Reply(body=opinion("accept").body, gate=gate) for gate in gates]
    with provider(replies) as served:
        told_of(served, monkeypatch)
        write(file, {f"{served.url}/ stub": slow})
        async with Connections(LocalProviders(file)) as connections:
            critics = [{"type": "self_refine", "name": f"critic {n}"} for n in range(5)]
            chain = Chain(model=STUB, critics=critics, connections=connections)
            async with anyio.create_task_group() as group:
                group.start_soon(partial(chain.run, text="A text."))
                for opened, gate in enumerate(gates):
                    await gate.reached()
                    assert len(served.requests) <= opened + 2
                    gate.open()
    assert len(served.requests) == 5
    assert served.probes == []


def write(file: Path, kept: dict[str, Abilities]) -> None:
    file.parent.mkdir(exist_ok=True)
    data = {name: found.model_dump(mode="json") for name, found in kept.items()}
    file.write_text(json.dumps(data), encoding="utf-8")
