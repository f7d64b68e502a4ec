"""The stub refuses what a real server refuses; otherwise the tests over it could not fail."""

from typing import Any

import pytest

from sifaka.storage.address import ELASTICSEARCH, parse_store_url
from sifaka.storage.elasticsearch.connection import HttpConnection
from tests.stubs.elasticsearch_server import ElasticsearchServer

pytestmark = pytest.mark.anyio


@pytest.fixture
async def connection(server: ElasticsearchServer) -> Any:
    connection = HttpConnection(
        parse_store_url(f"elasticsearch+http://{server.host}", ELASTICSEARCH)
    )
    fields = {
        "name": {"type": "keyword"},
        "count": {"type": "long"},
        "vector": {"type": "dense_vector", "dims": 2, "index": True, "similarity": "cosine"},
    }
    await connection.send("PUT", "/x", {"mappings": {"dynamic": "strict", "properties": fields}})
    yield connection
    await connection.aclose()


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/x/_search", {"query": {"trem": {"name": "a"}}}, "parsing_exception"),
        ("/x/_search", {"query": {"bool": {"shuold": []}}}, "parsing_exception"),
        ("/x/_search", {"quary": {}}, "parsing_exception"),
        ("/x/_search?sort=name", {"query": {"bool": {}}}, "illegal_argument_exception"),
        ("/x/_search", {"query": {"bool": {}}, "size": 10_001}, "search_phase_execution_exception"),
        (
            "/x/_search",
            {"query": {"bool": {}}, "sort": [{"nmae": "asc"}]},
            "search_phase_execution_exception",
        ),
        (
            "/x/_search",
            {"knn": {"field": "vector", "query_vector": [1.0], "k": 1, "num_candidates": 1}},
            "search_phase_execution_exception",
        ),
        ("/y/_search", {"query": {"bool": {}}}, "index_not_found_exception"),
        ("/x/_serch", {}, "illegal_argument_exception"),
    ],
)
async def test_a_wrong_request_is_refused(
    connection: HttpConnection, path: str, body: dict[str, Any], kind: str
) -> None:
    answer = await connection.send("POST", path, body)

    assert (answer.status >= 300, answer.kind) == (True, kind)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ({"nmae": "a"}, "strict_dynamic_mapping_exception"),
        ({"count": "many"}, "document_parsing_exception"),
        ({"name": "x" * 40_000}, "document_parsing_exception"),
        ({"vector": [1.0, 2.0, 3.0]}, "document_parsing_exception"),
        ({"vector": [0.0, 0.0]}, "document_parsing_exception"),
    ],
)
async def test_a_wrong_document_is_refused(
    connection: HttpConnection, source: dict[str, Any], kind: str
) -> None:
    answer = await connection.send("PUT", "/x/_doc/1", source)

    assert (answer.status, answer.kind) == (400, kind)


async def test_a_write_is_searched_for_after_a_refresh_and_read_at_once(
    connection: HttpConnection,
) -> None:
    everything: dict[str, Any] = {"query": {"bool": {}}}
    await connection.send("PUT", "/x/_doc/1", {"name": "a"})

    assert (await connection.send("GET", "/x/_doc/1")).body["_source"] == {"name": "a"}
    assert (await connection.send("POST", "/x/_search", everything)).body["hits"]["hits"] == []
    await connection.send("POST", "/x/_refresh")
    (hit,) = (await connection.send("POST", "/x/_search", everything)).body["hits"]["hits"]
    assert hit["_id"] == "1"


async def test_a_bulk_says_of_each_line_what_became_of_it(connection: HttpConnection) -> None:
    lines = (
        b'{"create":{"_id":"1"}}\n{"name":"a"}\n{"create":{"_id":"1"}}\n{"name":"b"}\n'
        b'{"update":{"_id":"2"}}\n{"doc":{"name":"c"}}\n{"delete":{"_id":"3"}}\n'
    )
    answer = await connection.send("POST", "/x/_bulk", lines)
    cut = await connection.send("POST", "/x/_bulk", lines[:-1])

    statuses = [next(iter(item.values()))["status"] for item in answer.body["items"]]
    assert (answer.status, answer.body["errors"], statuses) == (200, True, [201, 409, 404, 404])
    assert cut.status == 400
