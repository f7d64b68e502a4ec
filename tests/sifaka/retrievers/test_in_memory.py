import pytest

from sifaka.record.thought import Document, Thought
from sifaka.retrievers import InMemoryRetriever, MockRetriever, retrieve_for_thought

pytestmark = pytest.mark.anyio
CAT = Document(text="The cat sleeps on the warm stove.", id="cat", title="Pets")
DOG = Document(text="The dog barks at the postman.", id="dog", title="Pets")
TAX = Document(text="The tax return is due in July.", id="tax", title="Dog tax")


async def test_the_document_that_shares_most_words_comes_first_with_its_score() -> None:
    found = await InMemoryRetriever([CAT, DOG, TAX]).retrieve("does the dog bark", 5)
    assert found[0].id == "dog"
    scores = [document.score for document in found]
    assert scores == sorted(scores, key=lambda score: score or 0, reverse=True)
    assert None not in scores


async def test_documents_without_a_common_word_are_left_out() -> None:
    found = await InMemoryRetriever([CAT, DOG, TAX]).retrieve("postman", 5)
    assert [document.id for document in found] == ["dog"]


async def test_a_title_counts_less_than_the_text() -> None:
    found = await InMemoryRetriever([TAX, DOG]).retrieve("dog", 5)
    assert [document.id for document in found] == ["dog", "tax"]


@pytest.mark.parametrize(("limit", "count"), [(-1, 0), (0, 0), (1, 1), (2, 2), (9, 3)])
async def test_there_are_at_most_as_many_as_asked_for(limit: int, count: int) -> None:
    assert len(await InMemoryRetriever([CAT, DOG, TAX]).retrieve("the", limit)) == count


@pytest.mark.parametrize("query", ["", "  ", '"', "AND OR NOT", "\ud800"])
async def test_any_string_is_a_query(query: str) -> None:
    assert await InMemoryRetriever([CAT]).retrieve(query, 5) == ()


async def test_nothing_is_found_among_no_documents() -> None:
    assert await InMemoryRetriever([]).retrieve("cat", 5) == ()


async def test_a_string_is_a_document() -> None:
    (found,) = await InMemoryRetriever(["a plain cat"]).retrieve("cat", 5)
    assert found.text == "a plain cat"


async def test_a_mock_finds_by_the_query_and_remembers_what_it_was_asked() -> None:
    mock = MockRetriever({"cats": [CAT, "purring"], "dogs": [DOG]})
    assert [d.text for d in await mock.retrieve("cats", 5)] == [CAT.text, "purring"]
    assert await mock.retrieve("dogs", 0) == ()
    assert await mock.retrieve("birds", 5) == ()
    assert mock.queries == ["cats", "dogs", "birds"]


async def test_a_mock_can_find_the_same_for_every_query_or_fail() -> None:
    assert await MockRetriever([CAT]).retrieve("anything", 5) == (CAT,)
    with pytest.raises(ConnectionError):
        await MockRetriever(fails=ConnectionError()).retrieve("anything", 5)


async def test_documents_for_the_writer_are_looked_for_by_the_task() -> None:
    mock = MockRetriever({"about cats": [CAT], "a dog": [DOG]})
    thought = Thought(prompt="about cats", text="a dog").add_pre_generation_context([TAX])
    found = await retrieve_for_thought(mock, thought)
    assert found.pre_generation_context == (TAX, CAT)
    assert thought.pre_generation_context == (TAX,)


async def test_documents_for_critics_are_looked_for_by_the_text() -> None:
    mock = MockRetriever({"about cats": [CAT], "a dog": [DOG, TAX]})
    thought = Thought(prompt="about cats", text="a dog")
    found = await retrieve_for_thought(mock, thought, is_pre_generation=False, limit=1)
    assert found.post_generation_context == (DOG,)
    assert not found.pre_generation_context


async def test_without_a_task_the_text_is_looked_for() -> None:
    found = await retrieve_for_thought(MockRetriever({"a dog": [DOG]}), Thought(text="a dog"))
    assert found.pre_generation_context == (DOG,)


async def test_other_forms_of_a_word_are_found_in_every_language() -> None:
    pages = ["Refunds are paid.", "Die Bücher werden erstattet.", "我们的退款政策如下。"]
    retriever = InMemoryRetriever(pages)
    for query, page in (("refund", 0), ("buch", 1), ("退款", 2)):
        (found,) = await retriever.retrieve(query, 5)
        assert found.text == pages[page]
