"""The contract of adapters, held by every kind of them.

The servers behind the remote ones are recorded shapes of their documentation, not real servers;
`test_live_servers.py` asks real ones.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters
from tests.sifaka.evidence.sources.kinds import atomwalker, elasticsearch, local, meilisearch, solr
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS, Remote, Source
from tests.stubs.search_server import Answered, always

pytestmark = pytest.mark.anyio
Kind = Callable[[Path], AbstractAsyncContextManager[Source]]
REMOTE: Mapping[str, Kind] = {
    "elasticsearch": elasticsearch.source,
    "opensearch": elasticsearch.opensearch,
    "solr": solr.source,
    "meilisearch": meilisearch.source,
    "atomwalker": atomwalker.source,
}
LOCAL: Mapping[str, Kind] = {
    each.__name__: each
    for each in (local.in_process, local.folder, local.thoughts, local.retriever)
}


def _opened(kind: str, folder: Path) -> AbstractAsyncContextManager[Source]:
    return {**REMOTE, **LOCAL}[kind](folder)


@pytest.fixture(params=[*REMOTE, *LOCAL])
async def source(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Source]:
    async with _opened(request.param, tmp_path) as made:
        yield made
        await made.adapter.aclose()


@pytest.fixture(params=REMOTE)
async def remote(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Source]:
    async with _opened(request.param, tmp_path) as made:
        yield made
        await made.adapter.aclose()


def behind(source: Source) -> Remote:
    assert source.remote is not None
    return source.remote


async def told(source: Source, answer: Answered) -> SourceError:
    """The error of the adapter when its server answers so."""
    behind(source).server.answer = always(answer)
    with pytest.raises(SourceError) as caught:
        await source.adapter.search("lighthouse", limit=5, filters=ANYTHING)
    assert caught.value.adapter == "tested"
    said = str(caught.value)
    assert said.startswith("tested: ")
    assert "\n" not in said
    assert "s3cret" not in said
    return caught.value


async def test_what_is_found_has_all_that_is_known_of_it(source: Source) -> None:
    before = datetime.now(UTC)
    found = await source.adapter.search("lighthouse", limit=5, filters=ANYTHING)
    assert {each.id for each in found} == set(source.ids)
    for document, original in zip(
        sorted(found, key=lambda each: list(source.ids).index(each.id)), DOCUMENTS, strict=True
    ):
        assert document.adapter == source.adapter.name == "tested"
        assert original.text in document.text, "every character, whatever its script"
        assert document.title == original.title
        assert document.published == original.published
        assert document.retrieved_at >= before
        if source.has_links:
            assert document.url == original.url


async def test_the_best_comes_first(source: Source) -> None:
    found = await source.adapter.search("lighthouse", limit=5, filters=ANYTHING)
    scores = [each.score for each in found]
    assert None not in scores
    assert scores == sorted(scores, key=lambda score: score or 0, reverse=True)
    if source.remote:
        assert [each.id for each in found] == list(source.ids), "as its server ranks them"


async def test_no_more_is_found_than_was_asked_for(source: Source) -> None:
    best = await source.adapter.search("lighthouse", limit=5, filters=ANYTHING)
    for limit in (0, 1, 2):
        found = await source.adapter.search("lighthouse", limit=limit, filters=ANYTHING)
        assert [each.id for each in found] == [each.id for each in best[:limit]]


async def test_a_query_without_words_finds_nothing_and_makes_no_request(source: Source) -> None:
    for query in ("", "  \n", "?!", "\ud800", "\0"):
        assert not await source.adapter.search(query, limit=5, filters=ANYTHING), query
    assert source.remote is None or not source.remote.server.asked


async def test_any_string_is_a_query(source: Source) -> None:
    queries = (
        "lighthouse 灯台 “Lampan” naïve Ångström",
        'lighthouse AND (title:x OR "unbalanced) -not +and [a TO b] {!lucene} \\ / ~1 ^2 * ?',
        "lighthouse'; DROP TABLE isles; --",
        "lighthouse " + "word " * 5_000,
        "lighthouse" + "x" * 5_000 + " lighthouse",
        "lighthouse \ud800\udfff \0 \x1b[31m",
    )
    for number, query in enumerate(queries):
        found = await source.adapter.search(query, limit=5, filters=ANYTHING)
        if source.remote:
            assert len(found) == len(DOCUMENTS), query
            sent = source.remote.query_of(number)
            assert 0 < len(sent) <= 400
            assert sent.lower().startswith("lighthouse")
        else:
            assert len(found) <= len(DOCUMENTS)


async def test_words_of_any_script_reach_the_server_as_they_are(remote: Source) -> None:
    await remote.adapter.search("灯台 “Lampan” Ångström", limit=5, filters=ANYTHING)
    assert behind(remote).query_of(0) == "灯台 “Lampan” Ångström"


async def test_documents_of_another_time_are_not_found(source: Source) -> None:
    since = SearchFilters(since=datetime(2020, 1, 2, tzinfo=UTC))
    found = await source.adapter.search("lighthouse", limit=1, filters=since)
    later = await source.adapter.search("lighthouse", limit=5, filters=since)
    assert len(found) == 1
    assert {each.title for each in later} == {DOCUMENTS[0].title, DOCUMENTS[1].title}
    until = SearchFilters(until=datetime(2020, 1, 2, tzinfo=UTC))
    earlier = await source.adapter.search("lighthouse", limit=1, filters=until)
    assert [each.title for each in earlier] == [DOCUMENTS[2].title], "within the limit"


async def test_documents_of_other_sites_are_not_found(source: Source) -> None:
    only = SearchFilters(sites=("elsewhere.example",))
    found = await source.adapter.search("lighthouse", limit=1, filters=only)
    assert [each.title for each in found] == [DOCUMENTS[2].title] * source.has_links


async def test_it_says_that_it_works_and_where_it_is(source: Source) -> None:
    health = await source.adapter.health()
    assert health.works
    assert health.part == source.adapter.place
    assert "s3cret" not in f"{health}"


@pytest.mark.parametrize("kind", ["folder", "thoughts"])
async def test_what_fails_is_one_line(kind: str, tmp_path: Path) -> None:
    async with _opened(kind, tmp_path) as source:
        assert source.break_down is not None
        await source.break_down()
        with pytest.raises(SourceError) as caught:
            await source.adapter.search("lighthouse", limit=5, filters=ANYTHING)
    assert caught.value.adapter == "tested"
    assert str(caught.value).startswith("tested: ")
    assert "\n" not in str(caught.value)


async def test_a_refused_key_says_where_keys_are_set(remote: Source) -> None:
    error = await told(remote, behind(remote).refused)
    assert (error.error_code, error.retryable) == ("authentication", False)
    assert "SIFAKA_ADAPTER_KEYS=tested=" in str(error)
    health = await remote.adapter.health()
    assert not health.works
    assert health.found == str(error)


async def test_a_missing_index_is_named(remote: Source) -> None:
    error = await told(remote, behind(remote).no_index)
    assert error.error_code == "not_found"
    assert "isles" in error.message or "atomwalker-works" in error.message


async def test_a_broken_server_is_asked_again_and_then_told(remote: Source) -> None:
    error = await told(remote, behind(remote).broken)
    assert (error.error_code, error.retryable) == ("server", True)
    assert len(behind(remote).server.asked) == 3


async def test_an_answer_that_is_none_is_told(remote: Source) -> None:
    pages = (b"", b"{", b"<html>It works!</html>", b"[]", b"null", b"{}")
    for body in (*pages, b'{"hits": 3, "papers": {}}'):
        assert (await told(remote, Answered(body=body))).error_code == "malformed", body


@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch", "solr", "meilisearch"])
async def test_records_without_the_configured_field_are_told_with_what_to_do(
    kind: str, tmp_path: Path
) -> None:
    async with _opened(kind, tmp_path) as source:
        error = await told(source, behind(source).without_text)
        assert error.error_code == "malformed"
        assert "no record of" in error.message
        assert "with text in 'body'" in error.message
        assert "?text=" in str(error)
        assert not (await source.adapter.health()).works


async def test_papers_without_an_abstract_are_left_out(tmp_path: Path) -> None:
    async with _opened("atomwalker", tmp_path) as source:
        behind(source).server.answer = always(behind(source).without_text)
        assert not await source.adapter.search("lighthouse", limit=5, filters=ANYTHING)


async def test_nothing_found_is_no_failure(remote: Source) -> None:
    behind(remote).server.answer = always(behind(remote).empty)
    assert not await remote.adapter.search("lighthouse", limit=5, filters=ANYTHING)
    assert (await remote.adapter.health()).works


@pytest.mark.slow
async def test_a_server_that_is_not_there_is_told(remote: Source) -> None:
    behind(remote).server.stop()
    with pytest.raises(SourceError) as caught:
        await remote.adapter.search("lighthouse", limit=5, filters=ANYTHING)
    assert caught.value.error_code == "connection"
    assert not (await remote.adapter.health()).works
