"""Servers of other people, `osmem-server` and `noida-db`: their answers are their own, not ours.

The first speaks OpenSearch, the second Elasticsearch.
"""

from datetime import UTC, datetime

import httpx
import pytest

from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters
from sifaka.evidence.sources.catalogue import open_adapters
from tests.sifaka.evidence.sources.kinds.source import DOCUMENTS
from tests.stubs.search_programs import PROGRAMS, search_program

pytestmark = [pytest.mark.anyio, pytest.mark.servers]


@pytest.fixture(scope="module", params=list(PROGRAMS))
def place(request: pytest.FixtureRequest) -> str:
    """The URL of a server whose index has the three documents of the contract."""
    url = search_program(request.param)
    for document in DOCUMENTS:
        assert document.published is not None
        record = {
            "body": document.text,
            "title": document.title,
            "link": document.url,
            "changed": document.published.isoformat(),
        }
        there = f"{url}/isles/_doc/{document.id}?refresh=true"
        assert httpx.put(there, json=record, timeout=60).status_code in {200, 201}
    return url


@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
async def test_documents_are_found_with_all_that_is_known_of_them(place: str, kind: str) -> None:
    spec = f"isles={kind}+{place}/isles?text=body&url=link&date=changed"
    async with open_adapters([spec]) as adapters:
        (adapter,) = adapters.chosen()
        assert (await adapter.health()).works
        found = await adapter.search("lighthouse", limit=5, filters=ANYTHING)
        assert {each.title for each in found} == {each.title for each in DOCUMENTS}
        by_title = {each.title: each for each in found}
        for original in DOCUMENTS:
            document = by_title[original.title]
            assert (document.url, document.published) == (original.url, original.published)
            assert original.text in document.text
        assert [each.score for each in found] == sorted((e.score for e in found), reverse=True)  # pyright: ignore[reportArgumentType, reportCallIssue]
        since = SearchFilters(since=datetime(2020, 1, 2, tzinfo=UTC))
        later = await adapter.search("lighthouse", limit=5, filters=since)
        assert {each.title for each in later} == {DOCUMENTS[0].title, DOCUMENTS[1].title}
        wild = 'lighthouse AND (title:x OR "unbalanced) -not +and [a TO b] \\ / ~1 ^2 * ?'
        assert len(await adapter.search(wild, limit=5, filters=ANYTHING)) == 3


async def test_an_index_that_is_not_there_is_one_clear_line(place: str) -> None:
    async with open_adapters([f"isles=opensearch+{place}/nowhere?text=body"]) as adapters:
        (adapter,) = adapters.chosen()
        with pytest.raises(SourceError) as caught:
            await adapter.search("lighthouse", limit=5, filters=ANYTHING)
    assert caught.value.error_code == "not_found"
