"""A finished run can be gone through again from its record alone, whatever prompts say today."""

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.models.function import FunctionModel

from sifaka import Budget, Chain, Document
from sifaka.chain import RunResult
from sifaka.errors import ConfigurationError
from sifaka.models.prompt import PROMPTS_VERSION
from sifaka.record.entries import Called, Entry, Started
from sifaka.record.run import Run
from sifaka.retrievers.mock import MockRetriever
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.sifaka.chain.running import submit
from tests.stubs.writer import Writer

pytestmark = pytest.mark.anyio

STUB = "openai-chat:stub"
CALLS = 14
WORDS = [f"word{n}" for n in range(1, 13)]


def meant(monkeypatch: pytest.MonkeyPatch, model: FunctionModel) -> None:
    """Let `openai-chat:stub` mean this model, until the patch is undone."""

    def infer(name: Any) -> Any:
        return model if name == STUB else name

    monkeypatch.setattr("pydantic_ai.models.infer_model", infer)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Writer:
    """Writes ever shorter texts and asks for revisions."""
    texts = [" ".join(WORDS[:count]) for count in range(11, 0, -1)]
    form = {"better": "first", "reflection": "a lesson", "verdict": "revise"}
    stub = Writer(*texts, form=form)
    meant(monkeypatch, stub.model)
    return stub


async def test_a_replay_ends_at_the_budget_where_the_run_did(provider: Writer) -> None:
    chain = Chain(model=STUB, critics=["self_refine"], budget=Budget(max_calls=3), patience=None)
    result = await chain.run(text="input")
    assert result.stop_reason == "budget_calls"
    assert (await chain.replay(result.run_id)).exact


async def test_a_journal_with_another_answer_is_noticed(provider: Writer) -> None:
    store = MemoryStorage()
    chain = Chain(model=STUB, critics=["self_refine"], max_iterations=1, store=store)
    result = await chain.run(text="input")
    run = await store.load(result.run_id)
    write = next(call for call in run.calls if call.key == "1/write#0")
    assert "word1 word2" in write.response
    response = write.response.replace("word1 word2", "word2 word1")
    forged = write.model_copy(update={"response": response})
    await store.append(run.apply(forged), [forged], expected_version=run.version)
    # An entry after the end opens the run again; the same end is put back.
    reopened = await store.load(result.run_id)
    await chain.cancel(reopened.run_id)
    replay = await chain.replay(result.run_id)
    assert "version 1 has another text" in replay.differences


async def test_versions_of_callers_agents_and_own_models_are_taken_from_the_record() -> None:
    agent = Agent(Writer("one two").model)
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
    done = await submit(chain, waiting, "one two")
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
    meant(monkeypatch, Writer("", "a much longer text", "", "short").model)
    rules = [{"type": "length", "max_words": 1}]
    chain = Chain(model=STUB, critics=[], validators=rules, patience=None)
    result = await chain.run(text="a text")
    for _ in range(2):
        assert result.status == "failed"
        result = await chain.resume(result.run_id)
    assert (result.status, result.text) == ("done", "short")
    monkeypatch.undo()
    assert (await chain.replay(result.run_id)).differences == ()


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
async def test_a_replay_takes_the_answers_by_their_places_and_asks_nobody(
    policy: Any, provider: Writer
) -> None:
    store = MemoryStorage()
    result, entries = await finished(store, policy=policy)
    asked = len(provider.asked)
    assert asked >= 3
    own = await chain(store, policy=policy).replay(result.run_id)
    replay = await chain(await stored(entries), policy=policy).replay(result.run_id)
    assert own.exact
    assert replay.exact
    assert replay.run.usage.model_calls == own.run.usage.model_calls
    assert (own.run.prompts, replay.run.prompts) == (PROMPTS_VERSION, 1)
    assert len(provider.asked) == asked


async def test_a_replay_of_todays_prompts_takes_only_answers_to_the_same_questions(
    provider: Writer,
) -> None:
    result, entries = await finished(MemoryStorage())
    entries[0] = entries[0].model_copy(update={"prompts": PROMPTS_VERSION})
    assert not (await chain(await stored(entries)).replay(result.run_id)).exact


async def test_a_record_from_before_the_version_was_recorded_has_the_first() -> None:
    assert Started.model_validate_json('{"kind": "started", "run_id": "run_1"}').prompts == 1
    assert Run.start(Started(run_id="run_1")).prompts == 1
    assert PROMPTS_VERSION > 1


async def test_an_unfinished_run_asks_again_and_keeps_to_its_budget(provider: Writer) -> None:
    result, entries = await finished(MemoryStorage())
    assert result.usage.model_calls >= 9
    for cut in range(2, len(entries)):
        store = await stored(entries[:cut])
        paid = (await store.load(result.run_id)).usage.model_calls
        before = len(provider.asked)
        again = await chain(store).resume(result.run_id)
        assert again.status == "done", again.run.error
        assert again.usage.model_calls == paid + len(provider.asked) - before, cut
        assert again.usage.model_calls <= CALLS
        assert again.text
