"""The adapter on a real MediaWiki, with and without the extension TextExtracts."""

from collections.abc import Generator
from datetime import UTC, datetime

import anyio
import httpx2
import pytest

from sifaka.errors import SourceError
from sifaka.evidence.documents import SearchFilters
from sifaka.evidence.sources.http import Retrying
from sifaka.evidence.sources.mediawiki import MediaWikiAdapter
from tests.stubs.wiki import PAGES, wiki_running

pytestmark = [pytest.mark.anyio, pytest.mark.wiki]


@pytest.fixture(scope="module")
def extracting_wiki() -> Generator[str]:
    with wiki_running(extracts=True) as wiki:
        yield wiki.api


@pytest.fixture(params=["html", "extracts"])
def api(request: pytest.FixtureRequest) -> str:
    fixture = "wiki_api" if request.param == "html" else "extracting_wiki"
    return str(request.getfixturevalue(fixture))


@pytest.mark.parametrize(
    ("claim", "titles"),
    [
        ("The Gannet Head Lighthouse is 41 metres tall.", ["Gannet Head Lighthouse"]),
        ("The Gannet Head Lighthouse is 45 metres tall.", ["Gannet Head Lighthouse"]),
        (
            "34 people died when the Halcyon Grace was wrecked.",
            ["Hask Maritime Museum", "SS Halcyon Grace"],
        ),
        ("Runa Holt discovered a comet in 1971.", ["Runa Holt", "Ombry Observatory"]),
        ("How many passengers does the ferry carry?", ["MS Kittiwake"]),
        ("The Tessel Causeway was opened in 1974", ["Tessel Causeway"]),
    ],
)
async def test_claims_in_words_find_their_pages(api: str, claim: str, titles: list[str]) -> None:
    adapter = MediaWikiAdapter(api)
    found = [document.title for document in await adapter.search(claim, limit=4)]
    await adapter.aclose()
    assert found[: len(titles)] == titles or set(titles) <= set(found[:3])


async def test_a_page_is_running_text_with_its_place_and_date(api: str) -> None:
    adapter = MediaWikiAdapter(api, name="varrow")
    [found] = await adapter.search("captain Lewis Marr Halcyon Grace", limit=1)
    await adapter.aclose()
    assert "Of the 89 people on board, 31 died and 58 were saved." in found.text
    assert "breeches buoy. Her captain" in found.text  # without the mark of the footnote
    assert "Inquiry of the harbour board" not in found.text
    assert (found.adapter, found.published) == ("varrow", datetime(2024, 11, 20, 20, 5, tzinfo=UTC))
    answer = httpx2.get(found.url)
    assert answer.status_code == 200
    assert "Halcyon Grace" in answer.text


async def test_tables_are_left_out(api: str) -> None:
    adapter = MediaWikiAdapter(api)
    [found] = await adapter.search("MS Kittiwake", limit=1)
    await adapter.aclose()
    assert "The crossing takes 95 minutes." in found.text
    assert "06:45" not in found.text


async def test_a_redirect_counts_as_the_page_it_leads_to(api: str) -> None:
    adapter = MediaWikiAdapter(api)
    found = [document.title for document in await adapter.search("Gannet Light", limit=10)]
    await adapter.aclose()
    assert found[0] == "Gannet Head Lighthouse"
    assert "Gannet Light" not in found
    assert len(found) == len(set(found))


async def test_every_page_is_found_by_its_title(wiki_api: str) -> None:
    titles = [file.stem.replace("_", " ") for file in sorted(PAGES.glob("*.wiki"))]
    titles.remove("Gannet Light")
    assert len(titles) == 30
    adapter = MediaWikiAdapter(wiki_api)
    for title in titles:
        [found] = await adapter.search(title, limit=1)
        assert found.title == title
    await adapter.aclose()


@pytest.mark.parametrize(
    "query",
    ['"unbalanced (quote -Skell OR intitle:x', "Skell*", "-Skell", "all:Skell", "'; DROP TABLE x"],
)
async def test_no_query_breaks_the_search(api: str, query: str) -> None:
    adapter = MediaWikiAdapter(api)
    found = await adapter.search(query, limit=3)
    await adapter.aclose()
    assert found == () or "Skell" in {document.title for document in found}


async def test_words_that_no_page_has_find_nothing(api: str) -> None:
    adapter = MediaWikiAdapter(api)
    assert await adapter.search("zebra quux", limit=5) == ()
    await adapter.aclose()


async def test_recent_pages_alone_are_found_when_they_are_asked_for(api: str) -> None:
    adapter = MediaWikiAdapter(api)
    since = SearchFilters(since=datetime(2024, 6, 1, tzinfo=UTC))
    found = await adapter.search("Halcyon Grace", limit=10, filters=since)
    elsewhere = SearchFilters(sites=("wiki.example",))
    assert await adapter.search("Halcyon Grace", limit=10, filters=elsewhere) == ()
    await adapter.aclose()
    assert [document.title for document in found] == ["SS Halcyon Grace"]


async def test_many_searches_at_once_are_answered(wiki_api: str) -> None:
    adapter = MediaWikiAdapter(wiki_api, seconds=60.0)
    islands = ("Tessel", "Hask", "Ombry", "Farrin", "Skell", "Great Varrow")
    found: dict[str, list[str]] = {}

    async def search(island: str) -> None:
        documents = await adapter.search(f"How many live on {island}?", limit=3)
        found[island] = [document.title for document in documents]

    async with anyio.create_task_group() as group:
        for island in islands:
            group.start_soon(search, island)
    await adapter.aclose()
    assert {island for island in islands if island in found[island]} == set(islands)


async def test_health_names_the_wiki(wiki_api: str) -> None:
    adapter = MediaWikiAdapter(wiki_api)
    health = await adapter.health()
    await adapter.aclose()
    assert health.works
    assert health.found.startswith("MediaWiki 1.")


async def test_a_wiki_that_was_killed_is_told_as_such() -> None:
    with wiki_running() as wiki:
        adapter = MediaWikiAdapter(wiki.api, retrying=Retrying(attempts=1))
        assert (await adapter.health()).works
        wiki.kill()
        with pytest.raises(SourceError) as caught:
            await adapter.search("Skell", limit=1)
        assert caught.value.error_code == "connection"
        assert not (await adapter.health()).works
        await adapter.aclose()
