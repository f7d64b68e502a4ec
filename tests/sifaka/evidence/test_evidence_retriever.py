"""Adapters as a retriever: chains and models search as everything else does."""

from collections.abc import Sequence

import pytest

from sifaka.chain import Chain
from sifaka.errors import ConfigurationError, SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument
from sifaka.evidence.search import EvidenceRetriever
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedModel
from tests.sifaka.evidence.recording import recording

pytestmark = pytest.mark.anyio
SKAR = SourceDocument(title="Skär", text="The lighthouse of Skär is 31 metres high.", id="skar")
VIK = SourceDocument(title="Vik", text="The lighthouse of Vik is red.", id="vik")


class Counting(InProcessAdapter):
    """One that counts how often it is asked."""

    asked = 0

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        self.asked += 1
        return await super().search(query, limit=limit, filters=filters)


class Broken(InProcessAdapter):
    """One that cannot be reached."""

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        raise SourceError(f"{self.name}: no server is there", adapter=self.name)


async def test_documents_of_all_adapters_are_found_with_where_they_are_from() -> None:
    adapters = Adapters([InProcessAdapter([SKAR], name="a"), InProcessAdapter([VIK], name="b")])
    found = await EvidenceRetriever(adapters).retrieve("lighthouse", 5)
    assert {(each.id, each.metadata["adapter"]) for each in found} == {("skar", "a"), ("vik", "b")}
    assert len(await EvidenceRetriever(adapters).retrieve("lighthouse", 1)) == 1
    (only,) = await EvidenceRetriever(adapters, names=["b"]).retrieve("lighthouse", 5)
    assert only.id == "vik"


@pytest.mark.parametrize(("query", "limit"), [("", 5), (" \n", 5), ("lighthouse", 0)])
async def test_nothing_is_searched_for_nothing(query: str, limit: int) -> None:
    adapter = Counting([SKAR])
    assert not await EvidenceRetriever(Adapters([adapter])).retrieve(query, limit)
    assert adapter.asked == 0


async def test_one_adapter_that_fails_costs_the_others_nothing() -> None:
    adapters = Adapters([Broken([], name="a"), InProcessAdapter([VIK], name="b")])
    (found,) = await EvidenceRetriever(adapters).retrieve("lighthouse", 5)
    assert found.id == "vik"


async def test_when_all_have_failed_it_says_why_for_each() -> None:
    adapters = Adapters([Broken([], name="a"), Broken([], name="b")])
    with pytest.raises(SourceError) as caught:
        await EvidenceRetriever(adapters).retrieve("lighthouse", 5)
    assert "a: no server is there" in caught.value.message
    assert "b: no server is there" in caught.value.message


def test_an_unknown_adapter_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match="unknown adapter 'x'"):
        EvidenceRetriever(Adapters([InProcessAdapter([SKAR])]), names=["x"])
    with pytest.raises(ConfigurationError, match="no adapter is configured"):
        EvidenceRetriever(Adapters())


async def test_the_writer_and_the_critics_of_a_chain_are_given_what_it_finds() -> None:
    store = MemoryStorage()
    adapter = Counting([SKAR, VIK], name="isles")
    chain = Chain(
        model=ScriptedModel(lines=["The lighthouse of Skär is 31 metres high."]),
        critics=["lint"],
        retrievers=[EvidenceRetriever(Adapters([adapter]))],
        store=store,
    )
    result = await chain.run("Write of the lighthouse of Skär")
    run = await store.load(result.run_id)
    written = run.thoughts[0].pre_generation_context
    assert [document.id for document in written] == ["skar", "vik"]
    assert written[0].metadata["adapter"] == "isles"
    asked = [call for call in run.calls if call.model == "isles"]
    assert asked, "what it answered is on record"
    assert len({call.key for call in run.calls}) == len(run.calls), "each under its own key"
    assert adapter.asked == len(asked)


async def test_who_asks_again_in_a_run_that_is_resumed_repeats_no_search() -> None:
    adapter, other = Counting([SKAR], name="isles"), Counting([VIK], name="isles2")
    with recording() as made:
        first = await EvidenceRetriever(Adapters([adapter])).retrieve("lighthouse", 5)
        await EvidenceRetriever(Adapters([other])).retrieve("lighthouse", 5)
    assert len({call.key for call in made}) == len(made) == 2, "one key for each"
    with recording(made) as further:
        again = await EvidenceRetriever(Adapters([adapter])).retrieve("lighthouse", 5)
        await EvidenceRetriever(Adapters([other])).retrieve("lighthouse", 5)
    assert again == first
    assert not further
    assert (adapter.asked, other.asked) == (1, 1)


async def test_a_chain_goes_on_without_documents_when_all_sources_fail() -> None:
    chain = Chain(
        model=ScriptedModel(lines=["The lighthouse is high."]),
        critics=["lint"],
        retrievers=[EvidenceRetriever(Adapters([Broken([], name="isles")]))],
    )
    result = await chain.run("Write of the lighthouse")
    assert result.text == "The lighthouse is high."
    assert any("isles: no server is there" in line for line in result.degraded)
