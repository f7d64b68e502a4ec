import pytest

from sifaka import Chain, Thought
from sifaka.chain import RunResult
from sifaka.errors import ConfigurationError
from sifaka.recall import lessons_of, lessons_of_similar_runs
from sifaka.results import CriticFeedback
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedModel

pytestmark = pytest.mark.anyio
RULE = {"type": "content", "required": ["30 days"]}


class Coach:
    """A critic that has the same lesson for every attempt without a number of days."""

    name = "coach"

    async def critique(self, thought: Thought) -> CriticFeedback:
        if "30 days" in thought.text:
            return CriticFeedback(critic=self.name, verdict="accept")
        return CriticFeedback(
            critic=self.name, verdict="revise", reflection="Name the number of days."
        )


async def taught(store: MemoryStorage, text: str = "You may return your order.") -> RunResult:
    """A run in which one edit was turned down and a critic reflected."""
    chain = Chain(
        model=ScriptedModel(
            lines=["You may, maybe, return your order some day.", "Return it within 30 days."]
        ),
        validators=[{"type": "length", "max_words": 5}, RULE],
        critics=[Coach()],
        store=store,
    )
    return await chain.run(text=text)


async def test_a_run_teaches_its_reflections_and_what_was_turned_down() -> None:
    result = await taught(MemoryStorage())

    lessons = lessons_of(result.run)

    assert "Name the number of days." in lessons
    refused = [lesson for lesson in lessons if "turned down" in lesson]
    assert len(refused) == 1
    assert "maybe" in refused[0]
    worse = next(d.reason for d in result.run.decisions.values() if not d.accepted)
    assert worse in refused[0]


async def test_lessons_come_from_the_runs_that_are_most_similar() -> None:
    store = MemoryStorage()
    await taught(store)
    await Chain(store=store).run(text="Lions sleep in the the shade.")

    found = await lessons_of_similar_runs(store, "How do I return an order?", runs=2)

    assert found == lessons_of((await taught(MemoryStorage())).run)
    assert await lessons_of_similar_runs(store, "lions", runs=2) == ()
    assert await lessons_of_similar_runs(store, "walrus", runs=2) == ()


async def test_the_writer_is_told_the_lessons_and_the_record_keeps_them() -> None:
    store = MemoryStorage()
    await taught(store)
    model = ScriptedModel(lines=["Return your order within 30 days."])
    chain = Chain(model=model, validators=[RULE], critics=[], store=store, remember=1)

    result = await chain.run(text="You may return the order.")

    assert "Name the number of days." in model.seen[0].lessons
    assert result.run.remembered == model.seen[0].lessons
    stored = await store.load(result.run_id)
    assert stored.remembered == result.run.remembered
    assert (await chain.replay(result.run_id)).exact


async def test_a_caller_is_told_the_lessons_in_its_brief() -> None:
    store = MemoryStorage()
    await taught(store)
    chain = Chain(validators=[RULE], store=store, remember=1)

    result = await chain.run(text="You may return the order.")

    assert result.brief is not None
    assert "Name the number of days." in result.brief.lessons


async def test_without_being_asked_nothing_is_remembered() -> None:
    store = MemoryStorage()
    await taught(store)

    result = await Chain(validators=[RULE], store=store).run(text="You may return the order.")

    assert result.run.remembered == ()


@pytest.mark.parametrize("number", [-1, 21])
def test_how_many_runs_to_learn_from_is_bounded(number: int) -> None:
    with pytest.raises(ConfigurationError, match=f"remember={number}"):
        Chain(remember=number)


async def test_tags_are_on_record_and_a_wrong_one_is_refused() -> None:
    store = MemoryStorage()
    result = await Chain(store=store, tags=["legal", "eu/de", "legal"]).run(text="A text.")

    assert (await store.load(result.run_id)).tags == ("legal", "eu/de")
    for wrong in ("", "two words", "x" * 65):
        with pytest.raises(ConfigurationError, match="tags"):
            Chain(tags=[wrong])
