import pytest

from sifaka.chain import Chain
from sifaka.errors import ConfigurationError, StorageError
from sifaka.models import Generation
from sifaka.models.retrieval_augmented import RetrievalAugmentedModel
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Document, Thought
from sifaka.retrievers import InMemoryRetriever, MockRetriever
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.stubs.provider import provider, says

pytestmark = pytest.mark.anyio
FACT = Document(text="Bees dance to tell where flowers are.", id="bees", title="Bees", url="u:1")
OTHER = Document(text="Wasps make paper.", id="wasps")


async def test_the_model_sees_documents_for_its_task() -> None:
    model = ScriptedModel(lines=["x"])
    augmented = RetrievalAugmentedModel(model, MockRetriever({"about bees": [FACT]}))
    thought = Thought(prompt="about bees", text="old").add_pre_generation_context([OTHER])
    generation = await augmented.generate_with_thought(thought)
    assert model.seen[0].pre_generation_context == (OTHER, FACT)
    assert generation.metadata["passages"] == ({"id": "bees", "title": "Bees", "url": "u:1"},)
    assert "degraded" not in generation.metadata
    assert augmented.name == "scripted"


async def test_documents_are_for_the_text_where_there_is_no_task_a_few_and_none_twice() -> None:
    model = ScriptedModel(lines=["x"])
    await RetrievalAugmentedModel(model, MockRetriever({"a text": [FACT]})).generate_with_thought(
        Thought(text="a text")
    )
    assert model.seen[0].pre_generation_context == (FACT,)

    model = ScriptedModel(lines=["x"])
    retriever = MockRetriever([FACT, OTHER, "third"])
    thought = Thought(prompt="p").add_pre_generation_context([FACT])
    await RetrievalAugmentedModel(model, retriever, max_passages=2).generate_with_thought(thought)
    assert model.seen[0].pre_generation_context == (FACT, OTHER)
    with pytest.raises(ConfigurationError, match="max_passages=0"):
        RetrievalAugmentedModel(model, retriever, max_passages=0)


async def test_without_its_retriever_it_goes_on_and_says_so() -> None:
    lines = [Generation(text="x", metadata={"degraded": ["an earlier note"], "own": 1})]
    model = ScriptedModel(lines=lines)
    augmented = RetrievalAugmentedModel(model, MockRetriever(fails=ConnectionError("secret")))
    generation = await augmented.generate_with_thought(Thought(prompt="p"))
    assert generation.metadata == {
        "own": 1,
        "degraded": ("an earlier note", "retriever MockRetriever crashed with ConnectionError"),
    }


async def test_a_record_that_cannot_be_written_stops_it() -> None:
    augmented = RetrievalAugmentedModel(
        ScriptedModel(lines=["x"]), MockRetriever(fails=StorageError("disk full"))
    )
    with pytest.raises(StorageError):
        await augmented.generate_with_thought(Thought(prompt="p"))


async def test_in_a_chain_each_version_is_written_with_documents() -> None:
    model = ScriptedModel(lines=["worse", "better"])
    retriever = MockRetriever([FACT])
    chain = Chain(
        model=RetrievalAugmentedModel(model, retriever),
        critics=[ScriptedCritic(objects_to=lambda text: text != "better")],
    )
    result = await chain.run("about bees")
    assert result.text == "better"
    assert retriever.queries == ["about bees", "about bees"]
    assert [seen.pre_generation_context for seen in model.seen] == [(FACT,), (FACT,)]
    assert (await chain.replay(result.run.run_id)).exact


async def test_a_chains_own_retriever_serves_writer_and_critics() -> None:
    heard: list[Thought] = []

    class Listening(ScriptedCritic):
        async def critique(self, thought: Thought) -> CriticFeedback:
            heard.append(thought)
            return await super().critique(thought)

    model = ScriptedModel(lines=["Wasps are striped."])
    critic = Listening(objects_to=lambda text: False)
    chain = Chain(model=model, critics=[critic], retrievers=[InMemoryRetriever([FACT, OTHER])])
    result = await chain.run("how bees dance")
    assert [d.id for d in model.seen[0].pre_generation_context] == ["bees"]
    assert heard[0].post_generation_context[0].id == "wasps"
    assert (await chain.replay(result.run.run_id)).exact


async def test_a_providers_model_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with provider([says("written"), says("not asked for")]) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        augmented = RetrievalAugmentedModel("openai-chat:stub", MockRetriever([FACT]))
        chain = Chain(model=augmented, critics=[], max_iterations=1)
        result = await chain.run("about bees")
        assert result.text == "written"
        assert result.run.usage.model_calls == 1
        assert len(result.run.calls) == 1
        assert FACT.text in str(stub.requests[0])
        assert (await chain.replay(result.run.run_id)).exact
        assert len(stub.requests) == 1


@pytest.mark.parametrize("name", ["auto", "editor", "caller", "gpt"])
def test_a_name_that_is_no_providers_model_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        RetrievalAugmentedModel(name, MockRetriever())
