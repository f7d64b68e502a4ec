"""Several adapters, one list."""

from collections.abc import Sequence
from datetime import UTC, datetime

import anyio
import pytest
from pydantic import ValidationError

from sifaka.errors import ConfigurationError, SourceError, StorageError
from sifaka.evidence.documents import MOST_CHARS, SearchFilters, SourceDocument
from sifaka.evidence.search import search
from sifaka.record.usage import Budget
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


async def test_adapters_are_asked_at_the_same_time() -> None:
    waiting = [anyio.Event(), anyio.Event()]

    def meeting(mine: int) -> ScriptedAdapter:
        async def answer() -> list[SourceDocument]:
            waiting[mine].set()
            await waiting[1 - mine].wait()
            return [TOWER]

        return ScriptedAdapter(lambda _: answer(), name=f"adapter {mine}")

    with anyio.fail_after(60):
        searched = await search([meeting(0), meeting(1)], ["a"])
    assert searched.status == "found"


async def test_an_adapter_that_does_not_answer_in_time_fails_alone() -> None:
    async def never() -> list[SourceDocument]:
        await anyio.sleep_forever()
        return []

    late = ScriptedAdapter(lambda _: never(), name="late")
    searched = await search([late, ScriptedAdapter([TOWER])], ["a"], seconds=0.01)
    assert (searched.status, dict(searched.failures)) == (
        "found",
        {"late": "no answer within 0.01 s"},
    )


async def test_a_search_takes_no_longer_than_the_run_has_left() -> None:
    async def never() -> list[SourceDocument]:
        await anyio.sleep_forever()
        return []

    late = ScriptedAdapter(lambda _: never(), name="late")
    with recording(budget=Budget(max_seconds=0.01)) as made, anyio.fail_after(60):
        searched = await search([late], ["a"], seconds=600)
    assert searched.status == "search_failed"
    assert "budget of seconds" in searched.failures["late"]
    assert made == [], "with more time, the adapter is asked again"


async def test_all_backends_down_is_search_failed_with_each_adapters_error() -> None:
    other = SourceError("the index refuses", adapter="index", code="authentication")
    adapters = [ScriptedAdapter(DOWN, name="wiki"), ScriptedAdapter(other, name="index")]
    searched = await search(adapters, ["a", "b"])
    assert (searched.status, searched.documents) == ("search_failed", ())
    assert dict(searched.failures) == {
        "wiki": UNREACHED,
        "index": "the index refuses",
    }
    assert searched.degraded == ("index: the index refuses", f"wiki: {UNREACHED}")


async def test_zero_hits_is_no_results() -> None:
    searched = await search([ScriptedAdapter([])], ["a"])
    assert (searched.status, searched.documents, dict(searched.failures)) == ("no_results", (), {})


async def test_zero_hits_and_a_failure_is_no_results_and_says_which_part_failed() -> None:
    adapters = [ScriptedAdapter([], name="empty"), ScriptedAdapter(DOWN, name="wiki")]
    searched = await search(adapters, ["a"])
    assert searched.status == "no_results"
    assert list(searched.failures) == ["wiki"]


async def test_a_partly_failed_search_says_which_part() -> None:
    flaky = ScriptedAdapter(lambda query: DOWN if query == "b" else [TOWER], name="flaky")
    searched = await search([flaky, ScriptedAdapter(DOWN, name="wiki")], ["a", "b", "c"])
    assert searched.status == "found"
    assert dict(searched.failures) == {
        "flaky": f"1 of 3 queries: {UNREACHED}",
        "wiki": UNREACHED,
    }


@pytest.mark.parametrize("bug", [ZeroDivisionError("secret"), ExceptionGroup("x", [ValueError()])])
async def test_an_adapter_with_a_bug_fails_alone_and_its_words_are_not_told(bug: Exception) -> None:
    searched = await search([ScriptedAdapter(bug, name="mine"), ScriptedAdapter([TOWER])], ["a"])
    assert searched.status == "found"
    assert dict(searched.failures) == {"mine": type(bug).__name__}


async def test_an_adapter_that_answers_nonsense_fails_alone() -> None:
    nonsense: list[SourceDocument] = ["no document"]  # type: ignore[list-item]  # pyright: ignore
    searched = await search([ScriptedAdapter(nonsense, name="mine")], ["a"])
    assert (searched.status, dict(searched.failures)) == (
        "search_failed",
        {"mine": "AttributeError"},
    )


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


async def test_an_address_that_is_none_is_of_no_site_and_no_failure() -> None:
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


async def test_a_date_without_a_zone_is_utc() -> None:
    found = page("dated", published=datetime.fromisoformat("2020-01-01"))
    filters = SearchFilters(since=datetime(2020, 1, 1, tzinfo=UTC))
    assert (await search([ScriptedAdapter([found])], ["a"], filters=filters)).status == "found"


async def test_when_filters_leave_nothing_it_is_no_results() -> None:
    filters = SearchFilters(until=datetime(2000, 1, 1, tzinfo=UTC))
    searched = await search([ScriptedAdapter([TOWER])], ["a"], filters=filters)
    assert (searched.status, searched.notes) == (
        "no_results",
        ("1 document without a date left out",),
    )


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


async def test_a_document_of_nothing_is_none() -> None:
    searched = await search([ScriptedAdapter([SourceDocument(text=" \x00 ", url="x")])], ["a"])
    assert searched.status == "no_results"


async def test_without_queries_or_adapters_nothing_is_asked() -> None:
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


async def test_what_is_on_record_for_other_words_is_not_taken() -> None:
    with recording() as made:
        await search([ScriptedAdapter([TOWER])], ["a"])
    other = ScriptedAdapter([BRIDGE])
    with recording(made):
        searched = await search([other], ["b"])
    assert titles(searched.documents) == ["bridge"]
    assert other.asked == [("b", 10)]


async def test_a_run_that_cannot_be_recorded_is_not_a_failed_search() -> None:
    with recording(), pytest.raises(StorageError):
        await search([ScriptedAdapter(StorageError("the disk is full"))], ["a"])
