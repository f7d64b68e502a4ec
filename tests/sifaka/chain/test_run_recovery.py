"""Runs that fail and go on in the way that suits the failure."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from sifaka import Chain, Document, Thought
from sifaka.errors import CriticError, ModelProviderError
from sifaka.record.results import CriticFeedback
from sifaka.retrievers.in_memory import MockRetriever
from sifaka.storage import SQLiteStorage
from sifaka.testing import ScriptedModel

pytestmark = pytest.mark.anyio

RULES = [{"type": "length", "max_words": 2}]


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The waits between a failure and the next try, in seconds, none of them really waited."""
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("sifaka.chain.chain.anyio.sleep", note)
    yield waits
    monkeypatch.undo()
    assert anyio.sleep is not note


def fails(code: str, **fields: Any) -> ModelProviderError:
    return ModelProviderError(f"stub: {code}", code=code, **fields)


async def test_a_provider_that_comes_back_is_asked_again(waited: list[float]) -> None:
    model = ScriptedModel(lines=[fails("server"), fails("connection"), "a b"])
    result = await Chain(model=model, validators=RULES, critics=[]).run_with_recovery(text="a b c")
    assert (result.text, result.status) == ("a b", "done")
    assert [r.strategy for r in result.run.recoveries] == ["retry", "retry"]
    assert len(waited) == 2
    assert any("server in phase generate" in line for line in result.degraded)


async def test_what_the_provider_asks_for_is_waited(waited: list[float]) -> None:
    model = ScriptedModel(lines=[fails("rate_limit", retry_after=7.5), "a b"])
    result = await Chain(model=model, validators=RULES, critics=[]).run_with_recovery(text="a b c")
    assert result.status == "done"
    assert waited == [7.5]
    assert [r.strategy for r in result.run.recoveries] == ["fewer_parallel_calls"]


async def test_a_context_that_is_too_long_is_shortened() -> None:
    long = MockRetriever(documents=(Document(text="x" * 8000),))
    model = ScriptedModel(lines=[fails("context_window"), fails("context_window"), "a b"])
    chain = Chain(model=model, validators=RULES, critics=[], retrievers=[long])
    result = await chain.run_with_recovery("task", text="a b c")
    assert result.text == "a b"
    sizes = [len(t.pre_generation_context[0].text) for t in model.seen]
    assert sizes == [8000, 4000, 2000]


async def test_a_malformed_version_is_written_anew() -> None:
    model = ScriptedModel(lines=[fails("malformed"), "a b"])
    result = await Chain(model=model, validators=RULES, critics=[]).run_with_recovery(text="a b c")
    assert result.text == "a b"
    assert [r.strategy for r in result.run.recoveries] == ["restart_iteration"]


class Silent:
    name = "silent"

    async def critique(self, thought: Thought) -> CriticFeedback:
        raise CriticError("nothing comes to mind")


async def test_critics_that_stay_silent_are_left_out() -> None:
    chain = Chain(model=ScriptedModel(lines=["a b"]), validators=RULES, critics=[Silent()])
    result = await chain.run_with_recovery(text="a b c", most=10)
    assert result.text == "a b"
    assert [r.strategy for r in result.run.recoveries] == ["retry", "skip"] * 2
    assert result.thought.critic_feedback[0].reason == "left out after a failure"
    assert result.stop_reason != "passed", "nobody has said that it is good"


@pytest.mark.parametrize("code", ["authentication", "quota", "rejected", "not_found"])
async def test_what_does_not_pass_by_itself_is_not_tried_again(
    code: str, waited: list[float]
) -> None:
    model = ScriptedModel(lines=[fails(code), "a b"])
    result = await Chain(model=model, validators=RULES, critics=[]).run_with_recovery(text="a b c")
    assert (result.status, result.run.error_code) == ("failed", code)
    assert waited == []
    assert len(model.seen) == 1


async def test_it_gives_up_in_the_end_with_the_best_text() -> None:
    model = ScriptedModel(lines=[fails("server")] * 20)
    result = await Chain(model=model, validators=RULES, critics=[]).run_with_recovery(text="a b c")
    assert (result.text, result.status) == ("a b c", "failed")
    assert len(model.seen) == 4


async def test_recoveries_are_on_record(tmp_path: Any) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    model = ScriptedModel(lines=[fails("timeout"), "a b"])
    chain = Chain(model=model, validators=RULES, critics=[], store=store)
    result = await chain.run_with_recovery(text="a b c")
    stored = await store.load(result.run_id)
    assert [r.strategy for r in stored.recoveries] == ["retry"]
    assert stored.failures == 1
    await store.aclose()


async def test_a_question_that_cannot_be_shortened_is_not_asked_again() -> None:
    model = ScriptedModel(lines=[fails("context_window"), "a b"])
    result = await Chain(model=model, validators=RULES, critics=[]).run_with_recovery(text="a b c")
    assert (result.status, result.run.error_code) == ("failed", "context_window")
    assert len(model.seen) == 1


class Limited:
    name = "limited"

    def __init__(self) -> None:
        self.asked = 0

    async def critique(self, thought: Thought) -> CriticFeedback:
        self.asked += 1
        if self.asked == 1:
            raise fails("rate_limit", retry_after=4.0)
        return CriticFeedback(critic="limited", verdict="accept")


async def test_critics_that_all_hit_a_limit_are_asked_again_more_slowly(
    waited: list[float],
) -> None:
    chain = Chain(model=ScriptedModel(lines=[]), critics=[Limited()])
    result = await chain.run_with_recovery(text="a")
    assert (result.status, result.stop_reason) == ("done", "passed")
    assert [r.strategy for r in result.run.recoveries] == ["fewer_parallel_calls"]
    assert waited == [4.0]
