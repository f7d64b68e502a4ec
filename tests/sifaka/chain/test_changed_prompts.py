"""Runs on record whose questions to models had other words than today's."""

from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain
from sifaka.chain import RunResult
from sifaka.models.prompt import PROMPTS_VERSION
from sifaka.record.entries import Called, Entry, Started
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage

pytestmark = pytest.mark.anyio

STUB = "openai-chat:stub"
CALLS = 14


class Provider:
    """Writes ever shorter texts and asks for revisions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        monkeypatch.setattr("pydantic_ai.models.infer_model", self._infer)

    def _infer(self, model: Any) -> Any:
        return FunctionModel(self._answer, model_name="stub") if model == STUB else model

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.calls += 1
        if not info.output_tools:
            words = [
                "one",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
            ]
            return ModelResponse([TextPart(" ".join(words[: max(1, 13 - self.calls)]))])
        fields = info.output_tools[0].parameters_json_schema["properties"]
        answers = {"better": "first", "reflection": "a lesson", "verdict": "revise"}
        answer = {name: value for name, value in answers.items() if name in fields}
        return ModelResponse([ToolCallPart(info.output_tools[0].name, answer)])


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    return Provider(monkeypatch)


def chain(store: MemoryStorage, **options: Any) -> Chain:
    given: dict[str, Any] = {"critics": ["self_refine", "reflexion"], **options}
    return Chain(model=STUB, budget=Budget(max_calls=CALLS), patience=None, store=store, **given)


async def finished(store: MemoryStorage, **options: Any) -> tuple[RunResult, list[Entry]]:
    """A finished run, and its entries as if its questions had had other words."""
    entries: list[Entry] = []
    result = await chain(store, **options).run("task", text="input")
    async for entry, run in store.follow(result.run_id):
        match entry:
            case Started():
                entries.append(entry.model_copy(update={"prompts": 1}))
            case Called():
                entries.append(entry.model_copy(update={"request": "0" * 64}))
            case _:
                entries.append(entry)
        if run.version == result.run.version:
            return result, entries
    raise AssertionError("the run ends")


async def stored(entries: list[Entry]) -> MemoryStorage:
    store = MemoryStorage()
    await store.append(Run.replay(entries), entries, expected_version=0)
    return store


@pytest.mark.parametrize("policy", ["best", "judged", "best_of_n", "last"])
async def test_a_replay_takes_the_answers_by_their_places(policy: Any, provider: Provider) -> None:
    store = MemoryStorage()
    result, entries = await finished(store, policy=policy)
    asked = provider.calls
    own = await chain(store, policy=policy).replay(result.run_id)
    replay = await chain(await stored(entries), policy=policy).replay(result.run_id)
    assert own.exact
    assert replay.exact
    assert replay.run.usage.model_calls == own.run.usage.model_calls
    assert (own.run.prompts, replay.run.prompts) == (PROMPTS_VERSION, 1)
    assert provider.calls == asked


async def test_a_replay_of_todays_prompts_takes_only_answers_to_the_same_questions(
    provider: Provider,
) -> None:
    result, entries = await finished(MemoryStorage())
    entries[0] = entries[0].model_copy(update={"prompts": PROMPTS_VERSION})
    assert not (await chain(await stored(entries)).replay(result.run_id)).exact


async def test_a_record_from_before_the_version_was_recorded_has_the_first() -> None:
    assert Started.model_validate_json('{"kind": "started", "run_id": "run_1"}').prompts == 1
    assert Run.start(Started(run_id="run_1")).prompts == 1
    assert PROMPTS_VERSION > 1


async def test_an_unfinished_run_asks_again_and_keeps_to_its_budget(provider: Provider) -> None:
    result, entries = await finished(MemoryStorage())
    assert result.usage.model_calls >= 9
    for cut in range(2, len(entries)):
        store = await stored(entries[:cut])
        paid = (await store.load(result.run_id)).usage.model_calls
        before = provider.calls
        again = await chain(store).resume(result.run_id)
        assert again.status == "done", again.run.error
        assert again.usage.model_calls == paid + provider.calls - before, cut
        assert again.usage.model_calls <= CALLS
        assert again.text
