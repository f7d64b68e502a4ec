"""The requests word for word: what a real server would be sent."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from sifaka.record.run import Run
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.elasticsearch.index import run_key
from sifaka.storage.protocol import Filters
from tests.stubs.elasticsearch_server import ElasticsearchServer
from tests.stubs.embedders import ConceptEmbedder

pytestmark = pytest.mark.anyio
Made = Callable[..., Run]
KEY = run_key("default", "run_1")
SHOWN = ["run_id", "thought_id", "created_at", "text", "prompt"]


UNEXPIRED: Any = {"bool": {"must_not": [{"range": {"expires_at": {"lte": "now"}}}]}}


def without_moment(body: Any) -> Any:
    """A request as it is at any moment."""
    filters = body.get("knn", body.get("query", {}).get("bool"))["filter"]
    bound = filters[1]["bool"]["must_not"][0]["range"]["expires_at"]
    assert bound["lte"] > 1_700_000_000_000_000
    bound["lte"] = "now"
    return body


def sent(server: ElasticsearchServer) -> list[str]:
    """Each request in a line, with its parameters in their order."""
    return [
        " ".join([r.method, r.path, *(f"{n}={v}" for n, v in sorted(r.parameters.items()))])
        for r in server.requests
    ]


def bodies(server: ElasticsearchServer, suffix: str) -> list[Any]:
    return [r.lines if suffix == "_bulk" else r.json for r in server.requests if suffix in r.path]


async def test_the_index_is_created_with_its_layout(server: ElasticsearchServer) -> None:
    index = ElasticsearchIndex(f"elasticsearch+http://{server.host}?prefix=x")
    await index.search("word", limit=1)
    await index.aclose()

    layout = server.requests[0].json
    assert sent(server)[0] == "PUT /x-versions-1"
    kept = {"type": "object", "enabled": False}
    assert layout["aliases"] == {"x-versions": {}}
    assert layout["mappings"]["dynamic"] == "strict"
    assert layout["mappings"]["properties"]["drafted"] == kept
    assert layout["mappings"]["properties"]["text"] == kept
    terms = {"type": "text", "analyzer": "whitespace"}
    assert layout["mappings"]["properties"]["text_terms"] == terms
    assert layout["mappings"]["properties"]["prompt_terms"] == terms


async def test_versions_are_put_with_one_request(
    server: ElasticsearchServer, index: ElasticsearchIndex, drafted: Made
) -> None:
    run = drafted("Caf\u00e9\nnoir.", "Tea.", prompt="Say it.", tags=("legal",))
    await index.put(run, first=1)
    await index.put(run)

    assert sent(server) == ["POST /sifaka-versions/_bulk require_alias=true"] * 2
    later, whole = bodies(server, "_bulk")
    assert later == whole[2:]
    document = whole[1]["doc"]
    drafted_json = json.loads(document.pop("drafted"))
    assert drafted_json["thought"]["text"] == "Caf\u00e9\nnoir."
    assert whole[0] == {"update": {"_id": f"{KEY}:0", "retry_on_conflict": 3}}
    assert whole[1]["doc_as_upsert"] is True
    assert document == {
        "tenant": "default",
        "run_id": "run_1",
        "key": KEY,
        "number": 0,
        "thought_id": "run_1.0",
        "created_at": to_microseconds(run.thoughts[0].created_at),
        "passed": False,
        "tags": ["legal"],
        "text_terms": "cafe noir",
        "prompt_terms": "say it",
        "text": "Caf\u00e9\nnoir.",
        "prompt": "Say it.",
    }


async def test_a_search_by_words(
    server: ElasticsearchServer, index: ElasticsearchIndex, drafted: Made
) -> None:
    run = drafted("A short text.", tags=("legal",))
    await index.put(run)
    server.requests.clear()
    moment = run.thoughts[0].created_at

    only = Filters(since=moment, passed=False, tags=("legal",))
    (hit,) = (await index.search('"SHORT" OR texts*', limit=5, only=only)).hits

    assert sent(server) == [
        "POST /sifaka-versions/_refresh",
        "POST /sifaka-versions/_search",
    ]
    assert without_moment(server.requests[1].json) == {
        "query": {
            "bool": {
                "must": [
                    {
                        "multi_match": {
                            "query": "short or text texts",
                            "fields": ["text_terms", "prompt_terms^0.5"],
                            "type": "most_fields",
                        }
                    }
                ],
                "filter": [
                    {"term": {"tenant": "default"}},
                    UNEXPIRED,
                    {"range": {"created_at": {"gte": to_microseconds(moment)}}},
                    {"term": {"passed": False}},
                    {"term": {"tags": "legal"}},
                ],
            }
        },
        "sort": [{"_score": "desc"}, {"created_at": "desc"}, {"key": "desc"}],
        "size": 5,
        "_source": SHOWN,
        "track_total_hits": False,
    }
    assert hit.snippet == "A **short** **text**."


async def test_a_search_by_meaning(
    server: ElasticsearchServer,
    semantic: ElasticsearchIndex,
    embedder: ConceptEmbedder,
    drafted: Made,
) -> None:
    run = drafted("An automobile.")
    await semantic.put(run)
    assert await semantic.catch_up() == 0
    server.requests.clear()

    await semantic.search("car", limit=5)

    (vector,) = await embedder.embed(["car"], role="query")
    by_meaning = next(r.json for r in server.requests if b'"knn"' in r.body)
    field = by_meaning["knn"]["field"]
    assert field.startswith("vector_")
    tenant = {"term": {"tenant": "default"}}
    assert without_moment(by_meaning) == {
        "knn": {
            "field": field,
            "query_vector": list(vector),
            "k": 10,
            "num_candidates": 100,
            "similarity": 0.0002,
            "filter": [tenant, UNEXPIRED],
        },
        "size": 10,
        "_source": SHOWN,
        "track_total_hits": False,
    }
    counted = [r.json for r in server.requests if b'"exists"' in r.body]
    assert counted == [
        {
            "query": {
                "bool": {"filter": [tenant, {"bool": {"must_not": [{"exists": {"field": field}}]}}]}
            },
            "size": 0,
            "track_total_hits": True,
        }
    ]


async def test_a_text_of_all_scripts_is_sent_as_it_is(
    server: ElasticsearchServer, index: ElasticsearchIndex, drafted: Made
) -> None:
    text = "日本語 \u2028 \x85 👩‍👩‍👧 \\n"
    run = drafted(text)
    await index.put(run)

    body = next(r.body for r in server.requests if r.path == "/sifaka-versions/_bulk")
    drafted_json = json.loads(body.split(b"\n")[1])["doc"]["drafted"]
    assert json.loads(drafted_json)["thought"]["text"] == text
    assert (await index.thoughts("run_1"))[0].text == text


async def test_the_space_of_dropped_versions_is_rewritten_once(
    server: ElasticsearchServer, index: ElasticsearchIndex, drafted: Made
) -> None:
    await index.put(drafted("A text."))
    await index.drop("run_1")
    for _ in range(2):
        assert await index.catch_up() == 0

    merges = [line for line in sent(server) if "_forcemerge" in line]
    assert merges == ["POST /sifaka-versions/_forcemerge only_expunge_deletes=true"]
