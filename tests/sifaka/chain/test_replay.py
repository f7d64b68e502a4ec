"""A finished run can be gone through again from its record alone."""

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain, Document
from sifaka.errors import ConfigurationError
from sifaka.record.entries import Called
from sifaka.retrievers.in_memory import MockRetriever
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedCritic, ScriptedModel

pytestmark = pytest.mark.anyio

STUB = "openai-chat:stub"


class Provider:
    """Writes ever longer texts and judges them."""

    def __init__(self) -> None:
        self.calls = 0

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.calls += 1
        if not info.output_tools:
            return ModelResponse([TextPart(f"text {self.calls} " * self.calls)])
        fields = info.output_tools[0].parameters_json_schema["properties"]
        answer = {"verdict": "revise"} if "verdict" in fields else {"better": "first"}
        return ModelResponse([ToolCallPart(info.output_tools[0].name, answer)])


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    """What `openai-chat:stub` means until the fixture's test takes it away."""
    stub = Provider()

    def infer(model: Any) -> Any:
        return FunctionModel(stub.answer, model_name="stub") if model == STUB else model

    monkeypatch.setattr("pydantic_ai.models.infer_model", infer)
    return stub


@pytest.mark.parametrize("policy", ["best", "judged", "best_of_n", "last"])
async def test_a_replay_is_exact_and_asks_nobody(
    policy: Any, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = Chain(model=STUB, policy=policy, critics=["self_refine"], store=MemoryStorage())
    result = await chain.run("task", text="input")
    asked = provider.calls
    assert asked >= 3
    monkeypatch.undo()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    replay = await chain.replay(result.run_id)
    assert replay.differences == ()
    assert replay.exact
    assert provider.calls == asked
    assert replay.run.usage.model_calls == result.usage.model_calls


async def test_a_replay_ends_at_the_budget_where_the_run_did(provider: Provider) -> None:
    chain = Chain(model=STUB, critics=["self_refine"], budget=Budget(max_calls=3))
    result = await chain.run(text="input")
    assert result.stop_reason == "budget_calls"
    assert (await chain.replay(result.run_id)).exact


async def test_a_journal_with_another_answer_is_noticed(provider: Provider) -> None:
    store = MemoryStorage()
    chain = Chain(model=STUB, critics=["self_refine"], max_iterations=1, store=store)
    result = await chain.run(text="input")
    run = await store.load(result.run_id)
    write = next(call for call in run.calls if call.key == "1/write#0")
    forged: Called = write.model_copy(
        update={"response": write.response.replace("text 2", "test 2")}
    )
    await store.append(run.apply(forged), [forged], expected_version=run.version)
    # An entry after the end opens the run again; the same end is put back.
    reopened = await store.load(result.run_id)
    await chain.cancel(reopened.run_id)
    replay = await chain.replay(result.run_id)
    assert "version 1 has another text" in replay.differences


async def test_versions_of_callers_agents_and_own_models_are_taken_from_the_record() -> None:
    agent = Agent(FunctionModel(lambda messages, info: ModelResponse([TextPart("one two")])))
    rules = [{"type": "length", "max_words": 2}]
    for model in (agent, ScriptedModel(lines=["one two three", "one two"])):
        chain = Chain(model=model, validators=rules, critics=[])
        result = await chain.run(text="one two three four")
        assert result.rules_met
        assert (await chain.replay(result.run_id)).exact
    chain = Chain(validators=rules, effort="quick")
    waiting = await chain.run("shorten", text="one two three four")
    with pytest.raises(ConfigurationError, match="only a finished run"):
        await chain.replay(waiting.run_id)
    assert waiting.brief is not None
    done = await chain.submit(waiting.run_id, waiting.brief.parent_id, "one two")
    assert done.status == "done"
    assert (await chain.replay(done.run_id)).exact


async def test_opinions_and_documents_are_taken_from_the_record() -> None:
    heard: list[str] = []

    def objects(text: str) -> bool:
        heard.append(text)
        return text != "b"

    chain = Chain(
        model=ScriptedModel(lines=["b"]),
        critics=[ScriptedCritic(objects_to=objects)],
        retrievers=[MockRetriever(documents=(Document(text="fact"),))],
    )
    result = await chain.run(text="a")
    replay = await chain.replay(result.run_id)
    assert replay.exact
    assert heard == ["a", "b"]
    assert replay.run.thoughts[1].post_generation_context[0].text == "fact"


async def test_a_run_that_failed_and_was_resumed_is_replayed_as_it_went_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter(["", "a much longer text", "", "short"])

    def write(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart(next(answers))])

    def infer(model: Any) -> Any:
        return FunctionModel(write, model_name="stub") if model == STUB else model

    monkeypatch.setattr("pydantic_ai.models.infer_model", infer)
    rules = [{"type": "length", "max_words": 1}]
    chain = Chain(model=STUB, critics=[], validators=rules, patience=None)
    result = await chain.run(text="a text")
    assert result.status == "failed"
    result = await chain.resume(result.run_id)
    assert result.status == "failed"
    result = await chain.resume(result.run_id)
    assert (result.status, result.text) == ("done", "short")
    monkeypatch.undo()
    assert (await chain.replay(result.run_id)).differences == ()
