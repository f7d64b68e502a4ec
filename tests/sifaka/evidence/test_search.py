"""Several adapters, one list; and adapters as a retriever, by which chains search."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from pydantic import ValidationError

from sifaka.chain import Chain
from sifaka.errors import ConfigurationError, SourceError, StorageError
from sifaka.evidence.documents import MOST_CHARS, SearchFilters, SourceDocument
from sifaka.evidence.search import EvidenceRetriever, search
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.record.usage import Budget
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedModel
from tests.sifaka.evidence.recording import recording
from tests.sifaka.evidence.scripted_adapter import ScriptedAdapter, page

pytestmark = pytest.mark.anyio

DOWN = SourceError("the wiki cannot be reached", "look at its address", adapter="wiki")
UNREACHED = "the wiki cannot be reached — look at its address"
TOWER, BRIDGE, PORT = page("tower"), page("bridge"), page("port")


def titles(documents: Sequence[SourceDocument]) -> list[str]:
    return [document.title.removeprefix("Page about ") for document in documents]


async def test_all_adapters_are_asked_all_queries_and_the_answers_merged() -> None:
    one = ScriptedAdapter([TOWER, BRIDGE], name="one")
    two = ScriptedAdapter(lambda query: [PORT] if query == "b" else [BRIDGE], name="two")
    searched = await search([one, two], ["a", " b ", "a", ""], max_results=5)
    assert searched.status == "found"
    assert not searched.failures
    assert one.asked == two.asked == [("a", 5), ("b", 5)]
    assert titles(searched.documents) == ["bridge", "tower", "port"]
    assert {each.adapter for each in searched.documents} == {"one", "two"}


async def never() -> list[SourceDocument]:
    await anyio.sleep_forever()
    return []


async def test_an_adapter_that_does_not_answer_in_time_fails_alone() -> None:
    late = ScriptedAdapter(lambda _: never(), name="late")
    searched = await search([late, ScriptedAdapter([TOWER])], ["a"], seconds=0.01)
    assert searched.status == "found"
    assert dict(searched.failures) == {"late": "no answer within 0.01 s"}


async def test_a_search_takes_no_longer_than_the_run_has_left() -> None:
    late = ScriptedAdapter(lambda _: never(), name="late")
    with recording(budget=Budget(max_seconds=0.01)) as made, anyio.fail_after(60):
        searched = await search([late], ["a"], seconds=600)
    assert searched.status == "search_failed"
    assert "budget of seconds" in searched.failures["late"]
    assert made == [], "with more time, the adapter is asked again"


async def test_zero_hits_is_no_results_and_says_which_part_failed() -> None:
    adapters = [ScriptedAdapter([], name="empty"), ScriptedAdapter(DOWN, name="wiki")]
    for asked, failed in ((adapters[:1], []), (adapters, ["wiki"])):
        searched = await search(asked, ["a"])
        assert (searched.status, searched.documents) == ("no_results", ())
        assert list(searched.failures) == failed


async def test_a_partly_failed_search_says_which_part() -> None:
    flaky = ScriptedAdapter(lambda query: DOWN if query == "b" else [TOWER], name="flaky")
    searched = await search([flaky, ScriptedAdapter(DOWN, name="wiki")], ["a", "b", "c"])
    assert searched.status == "found"
    assert dict(searched.failures) == {"flaky": f"1 of 3 queries: {UNREACHED}", "wiki": UNREACHED}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (ZeroDivisionError("secret"), "ZeroDivisionError"),
        (ExceptionGroup("x", [ValueError()]), "ExceptionGroup"),
        (["no document"], "AttributeError"),
    ],
)
async def test_an_adapter_with_a_bug_fails_alone_and_its_words_are_not_told(
    answer: Any, told: str
) -> None:
    searched = await search([ScriptedAdapter(answer, name="mine"), ScriptedAdapter([TOWER])], ["a"])
    assert (searched.status, dict(searched.failures)) == ("found", {"mine": told})


async def test_max_results_bounds_the_merged_list_whatever_an_adapter_returns() -> None:
    many = [page(f"number {n}") for n in range(30)]
    one, two = ScriptedAdapter(many[:20], name="one"), ScriptedAdapter(many[10:], name="two")
    searched = await search([one, two], ["a", "b"], max_results=7)
    assert len(searched.documents) == 7


@pytest.mark.parametrize("most", [0, -1, 101])
async def test_a_limit_out_of_bounds_is_refused_before_any_request(most: int) -> None:
    adapter = ScriptedAdapter([TOWER])
    with pytest.raises(ConfigurationError, match=f"max_results is {most}"):
        await search([adapter], ["a"], max_results=most)
    assert adapter.asked == []


async def test_filters_are_applied_to_whatever_comes_back_and_the_rest_is_told() -> None:
    new = page("new", published=datetime(2024, 5, 1, tzinfo=UTC))
    old = page("old", published=datetime(2010, 5, 1, tzinfo=UTC))
    found = ScriptedAdapter([old, page("undated"), new, page("undated too")])
    filters = SearchFilters(since=datetime(2020, 1, 1, tzinfo=UTC))
    searched = await search([found], ["a", "b"], filters=filters)
    assert titles(searched.documents) == ["new"]
    assert searched.notes == (
        "2 documents without a date left out",
        "1 document outside the time or the sites asked for left out",
    )


async def test_a_site_filter_keeps_its_subdomains_and_nothing_that_only_looks_like_it() -> None:
    urls = ["https://en.wiki.org/a", "https://wiki.org/b", "https://notwiki.org/c", ""]
    found = [page(f"number {n}", url=url) for n, url in enumerate(urls)]
    searched = await search(
        [ScriptedAdapter(found)], ["a"], filters=SearchFilters(sites=("wiki.org",))
    )
    assert titles(searched.documents) == ["number 0", "number 1"]

    found = [page("broken", url="http://[broken"), page("right", url="https://wiki.org/a")]
    filters = SearchFilters(sites=("https://WIKI.org/anything",))
    searched = await search([ScriptedAdapter(found)], ["a"], filters=filters)
    assert titles(searched.documents) == ["right"]


@pytest.mark.parametrize("site", ["", " ", "http://", "/path"])
def test_a_site_that_is_no_host_is_refused(site: str) -> None:
    with pytest.raises(ValidationError, match="is no host"):
        SearchFilters(sites=(site,))


def test_filters_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValidationError, match="is not before"):
        SearchFilters(since=datetime(2020, 1, 1, tzinfo=UTC), until=datetime(2020, 1, 1))


async def test_filters_by_time_count_in_utc_and_what_they_leave_nothing_of_is_no_results() -> None:
    found = page("dated", published=datetime.fromisoformat("2020-01-01"))
    filters = SearchFilters(since=datetime(2020, 1, 1, tzinfo=UTC))
    assert (await search([ScriptedAdapter([found])], ["a"], filters=filters)).status == "found"
    filters = SearchFilters(until=datetime(2000, 1, 1, tzinfo=UTC))
    searched = await search([ScriptedAdapter([TOWER])], ["a"], filters=filters)
    assert searched.status == "no_results"
    assert searched.notes == ("1 document without a date left out",)


async def test_texts_come_without_control_characters_and_of_bounded_length() -> None:
    dirty = SourceDocument(
        text="so\u00adft\x00 \ud800half\r\nline\u200b" + "x" * (2 * MOST_CHARS),
        title="A\ntitle\x07  of\ttwo " + "y" * 9_000,
        url="https://example.org/\x00",
        adapter="another",
    )
    (document,) = (await search([ScriptedAdapter([dirty])], ["a"])).documents
    assert document.text.startswith("soft half\nlinexxx")
    assert len(document.text) == MOST_CHARS
    assert document.title.startswith("A title of two yyy")
    assert (len(document.title), document.url) == (500, "https://example.org/")
    assert document.adapter == "scripted"


async def test_what_is_empty_is_neither_asked_for_nor_found() -> None:
    searched = await search([ScriptedAdapter([SourceDocument(text=" \x00 ", url="x")])], ["a"])
    assert searched.status == "no_results"
    adapter = ScriptedAdapter([TOWER])
    assert (await search([adapter], [" ", ""])).status == "no_results"
    assert (await search([], ["a"])).status == "search_failed"
    assert adapter.asked == []


async def test_a_resume_asks_no_adapter_again_and_finds_the_same() -> None:
    def adapters() -> list[ScriptedAdapter]:
        return [ScriptedAdapter([page("tower")], name="one"), ScriptedAdapter(DOWN, name="wiki")]

    with recording() as made:
        before = await search(adapters(), ["a", "b"])
    assert len(made) == 4, "one answer for each adapter and query, failures too"
    again = adapters()
    with recording(made) as further:
        after = await search(again, ["a", "b"])
    assert after == before
    assert further == []
    assert [adapter.asked for adapter in again] == [[], []]


async def test_a_run_that_cannot_be_recorded_is_not_a_failed_search() -> None:
    with recording(), pytest.raises(StorageError):
        await search([ScriptedAdapter(StorageError("the disk is full"))], ["a"])


SKAR = SourceDocument(title="Skär", text="The lighthouse of Skär is 31 metres high.", id="skar")
AWAY = SourceError("no server is there", adapter="isles")
VIK = SourceDocument(title="Vik", text="The lighthouse of Vik is red.", id="vik")


async def test_documents_of_all_adapters_are_found_with_where_they_are_from() -> None:
    adapters = Adapters([InProcessAdapter([SKAR], name="a"), InProcessAdapter([VIK], name="b")])
    found = await EvidenceRetriever(adapters).retrieve("lighthouse", 5)
    assert {(each.id, each.metadata["adapter"]) for each in found} == {("skar", "a"), ("vik", "b")}
    assert len(await EvidenceRetriever(adapters).retrieve("lighthouse", 1)) == 1
    (only,) = await EvidenceRetriever(adapters, names=["b"]).retrieve("lighthouse", 5)
    assert only.id == "vik"


@pytest.mark.parametrize(("query", "limit"), [("", 5), (" \n", 5), ("lighthouse", 0)])
async def test_nothing_is_searched_for_nothing(query: str, limit: int) -> None:
    adapter = ScriptedAdapter([SKAR])
    assert not await EvidenceRetriever(Adapters([adapter])).retrieve(query, limit)
    assert adapter.asked == []


async def test_when_all_have_failed_it_says_why_for_each() -> None:
    adapters = Adapters([ScriptedAdapter(AWAY, name="a"), ScriptedAdapter(AWAY, name="b")])
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
    adapter = ScriptedAdapter([SKAR, VIK], name="isles")
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
    assert len(adapter.asked) == len(asked)


async def test_a_chain_goes_on_without_documents_when_all_sources_fail() -> None:
    chain = Chain(
        model=ScriptedModel(lines=["The lighthouse is high."]),
        critics=["lint"],
        retrievers=[EvidenceRetriever(Adapters([ScriptedAdapter(AWAY, name="isles")]))],
    )
    result = await chain.run("Write of the lighthouse")
    assert result.text == "The lighthouse is high."
    assert any("isles: no server is there" in line for line in result.degraded)
