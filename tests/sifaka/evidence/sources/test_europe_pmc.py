"""Europe PMC, in the shapes that its documentation gives.

Recorded shapes, not a real server: https://europepmc.org/RestfulWebService
"""

from datetime import UTC, datetime

import pytest

from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument
from sifaka.evidence.sources.catalogue import open_adapters
from tests.stubs.search_server import Answered, Asked, SearchServer, always, of_json

pytestmark = pytest.mark.anyio


async def found(
    server: SearchServer, kind: str, path: str, filters: SearchFilters = ANYTHING
) -> list[SourceDocument]:
    async with open_adapters([f"bio={kind}+http://{server.host}{path}"]) as adapters:
        (adapter,) = adapters.chosen()
        query = "Does aspirin help older adults?"
        return list(await adapter.search(query, limit=5, filters=filters))


async def test_europe_pmc_gives_abstracts_without_markup() -> None:
    def answer(asked: Asked) -> Answered:
        assert asked.path == "/rest/search"
        assert asked.params["resultType"] == "core"
        assert asked.params["query"] == (
            "(aspirin OR help OR older OR adults) AND (FIRST_PDATE:[2020-01-01 TO 3000-01-01])"
        )
        result = {
            "id": "11111111",
            "source": "MED",
            "pmid": "11111111",
            "doi": "10.1000/aspirin.1",
            "title": "Aspirin in <i>older</i> adults.",
            "authorString": "Lind AB, Berg C.",
            "abstractText": "<h4>Background</h4>Aspirin is common.<h4>Results</h4>Less by 12%.",
            "firstPublicationDate": "2020-11-05",
        }
        listed = [result, {"id": "2", "source": "PPR", "title": "Without an abstract"}]
        return of_json({"version": "6.9", "hitCount": 2, "resultList": {"result": listed}})

    server = SearchServer(answer)
    since = SearchFilters(since=datetime(2020, 1, 1, tzinfo=UTC))
    (only,) = await found(server, "europepmc", "/rest", since)
    server.stop()
    assert only.text == "Background\nAspirin is common.\nResults\nLess by 12%."
    assert (only.title, only.id) == ("Aspirin in older adults.", "MED:11111111")
    assert only.author == "Lind AB, Berg C"
    assert only.url == "https://europepmc.org/article/MED/11111111"
    assert only.published == datetime(2020, 11, 5, tzinfo=UTC)


async def test_nonsense_is_one_clear_line() -> None:
    server = SearchServer(always(of_json({"other": 1})))
    with pytest.raises(SourceError) as caught:
        await found(server, "europepmc", "/x")
    server.stop()
    assert caught.value.error_code == "malformed"


def test_its_address_need_not_be_told() -> None:
    (adapter,) = open_adapters(["europepmc:"]).chosen()
    assert adapter.place == "https://www.ebi.ac.uk/europepmc/webservices/rest/search"
