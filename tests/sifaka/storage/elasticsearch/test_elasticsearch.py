"""The requests word for word, a server that refuses or is away, and the stub, which refuses too."""

import json
import socket
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from sifaka.errors import StorageError
from sifaka.record.entries import Decided, Decision, Validated
from sifaka.record.results import ValidationResult
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.elasticsearch.index import run_key
from sifaka.storage.protocol import Filters
from tests.storage_contract.runs import made
from tests.stubs.elasticsearch_errors import ElasticError, rejected
from tests.stubs.elasticsearch_server import ElasticsearchServer, Request
from tests.stubs.embedders import ConceptEmbedder

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Generator[ElasticsearchServer]:
    server = ElasticsearchServer()
    yield server
    server.stop()


@pytest.fixture
def embedder() -> ConceptEmbedder:
    return ConceptEmbedder()


@pytest.fixture
async def index(server: ElasticsearchServer) -> AsyncGenerator[ElasticsearchIndex]:
    """A index for words only, whose indices are there."""
    index = ElasticsearchIndex(f"elasticsearch+http://{server.host}")
    await index.search("word", limit=1)
    server.requests.clear()
    yield index
    await index.aclose()


@pytest.fixture
async def semantic(
    server: ElasticsearchServer, embedder: ConceptEmbedder
) -> AsyncGenerator[ElasticsearchIndex]:
    """A index for meaning too, in the same indices."""
    url = f"elasticsearch+http://{server.host}"
    index = ElasticsearchIndex(url, embedder=embedder)
    yield index
    await index.aclose()


KEY = run_key("default", "run_1")
SHOWN = ["run_id", "thought_id", "created_at", "text", "prompt"]


UNEXPIRED: Any = {"bool": {"must_not": [{"range": {"expires_at": {"lte": "now"}}}]}}


def without_moment(body: Any) -> Any:
    """A request as it is at any moment."""
    bound = body["query"]["bool"]["filter"][1]["bool"]["must_not"][0]["range"]["expires_at"]
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
    server: ElasticsearchServer, index: ElasticsearchIndex
) -> None:
    run = made("Caf\u00e9\nnoir.", "Tea.", prompt="Say it.", tags=("legal",), run_id="run_1")
    await index.put(run, first=1)
    await index.put(run)

    assert sent(server) == ["POST /_bulk require_alias=true"] * 2
    later, whole = bodies(server, "_bulk")
    assert later == whole[2:]
    document = whole[1]["doc"]
    drafted_json = json.loads(document.pop("drafted"))
    assert drafted_json["thought"]["text"] == "Caf\u00e9\nnoir."
    where = {"_index": "sifaka-versions", "_id": f"{KEY}:0"}
    assert whole[0] == {"update": {**where, "retry_on_conflict": 3}}
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


async def test_a_search_by_words(server: ElasticsearchServer, index: ElasticsearchIndex) -> None:
    run = made("A short text.", tags=("legal",), run_id="run_1")
    await index.put(run)
    server.requests.clear()
    moment = run.thoughts[0].created_at

    only = Filters(since=moment, passed=False, tags=("legal",))
    (hit,) = (await index.search('"SHORT" OR texts*', limit=5, only=only)).hits

    assert sent(server) == ["POST /sifaka-versions/_refresh", "POST /sifaka-versions/_search"]
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


async def test_the_space_of_dropped_versions_is_rewritten_once(
    server: ElasticsearchServer, index: ElasticsearchIndex
) -> None:
    await index.put(made("A text.", run_id="run_1"))
    await index.drop("run_1")
    for _ in range(2):
        assert await index.catch_up() == 0
    merges = [line for line in sent(server) if "_forcemerge" in line]
    assert merges == ["POST /sifaka-versions/_forcemerge only_expunge_deletes=true"]


async def test_a_server_that_is_away_is_said_to_be_and_may_come_back() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    index = ElasticsearchIndex(f"elasticsearch+http://ann:hunter2@127.0.0.1:{port}")

    with pytest.raises(StorageError) as caught:
        await index.search("x", limit=1)
    (health,) = await index.health()
    await index.aclose()

    assert caught.value.retryable
    assert f"http://127.0.0.1:{port} cannot be reached" in caught.value.message
    assert not health.works
    assert "hunter2" not in str(caught.value) + health.part + health.found


@pytest.mark.parametrize("wrong", ["", "ann:wrong@"])
async def test_wrong_credentials_are_told_without_them(wrong: str) -> None:
    server = ElasticsearchServer("Basic YW5uOmh1bnRlcjI=")
    right = ElasticsearchIndex(f"elasticsearch+http://ann:hunter2@{server.host}")
    assert (await right.search("x", limit=1)).hits == ()
    index = ElasticsearchIndex(f"elasticsearch+http://{wrong}{server.host}")

    with pytest.raises(StorageError, match="refuses the credentials") as caught:
        await index.search("x", limit=1)
    (health,) = await index.health()
    await right.aclose()
    await index.aclose()
    server.stop()

    assert not caught.value.retryable
    assert not health.works
    assert "wrong@" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_an_api_key_is_sent() -> None:
    server = ElasticsearchServer("ApiKey VnVhQ2ZnPT0=")
    index = ElasticsearchIndex(f"elasticsearch+http://{server.host}?api_key=VnVhQ2ZnPT0=")
    assert (await index.search("x", limit=1)).hits == ()
    await index.aclose()
    server.stop()


async def test_each_refusal_is_an_error_of_one_line(
    server: ElasticsearchServer, index: ElasticsearchIndex
) -> None:
    blocked = "index [x] blocked by: [flood-stage]"
    refusals = (
        (rejected(), True, "429: es_rejected_execution_exception"),
        (ElasticError(502, "", "<html>Bad gateway</html>"), True, "502"),
        (ElasticError(503, "unavailable_shards_exception", "primary"), True, "503"),
        (ElasticError(429, "cluster_block_exception", blocked), True, "blocked for writing"),
        (ElasticError(403, "security_exception", "action unauthorized"), False, "credentials"),
        (ElasticError(406, "", "Content-Type header [] is not supported"), False, "Content-Type"),
        (ElasticError(400, "mapper_parsing_exception", "No\nhandler"), False, "No handler"),
        (ElasticError(404, "index_not_found_exception", "no such [x]"), False, "lost an index"),
    )
    run = made("x", run_id="run_1")
    for error, retryable, said in refusals:

        def intercept(request: Request, error: ElasticError = error) -> None:
            raise error

        server.intercept = intercept
        for call in (
            *(index.put(run), index.thoughts("run_1"), index.search("x", limit=1)),
            *(index.drop("run_1"), index.catch_up()),
        ):
            with pytest.raises(StorageError) as caught:
                await call
            assert caught.value.retryable == retryable, said
            assert said in str(caught.value)
            assert "\n" not in str(caught.value)


async def test_one_version_of_a_bulk_that_is_refused_refuses_the_put(
    server: ElasticsearchServer, index: ElasticsearchIndex
) -> None:
    server.indices["sifaka-versions-1"].properties.pop("drafted")
    with pytest.raises(StorageError, match="strict_dynamic_mapping_exception"):
        await index.put(made("x", run_id="run_1"))


async def test_an_index_that_was_lost_is_not_made_anew_by_a_write(
    server: ElasticsearchServer, index: ElasticsearchIndex
) -> None:
    del server.indices[server.aliases.pop("sifaka-versions")]
    with pytest.raises(StorageError, match="has lost an index") as caught:
        await index.put(made("x", run_id="run_1"))
    assert "sifaka-versions" in caught.value.message
    assert not caught.value.retryable
    assert not server.indices


async def test_a_healthy_server_says_its_version(index: ElasticsearchIndex) -> None:
    (health,) = await index.health()
    assert health.works
    assert health.found == "elasticsearch 9.1.0"


async def test_a_vector_outlives_a_change_of_its_document(
    semantic: ElasticsearchIndex, embedder: ConceptEmbedder
) -> None:
    run = made("An automobile.", run_id="run_1")
    await semantic.put(run)
    await semantic.catch_up()
    decided = Decided(thought_id="run_1.0", decision=Decision(accepted=True, by="person"))
    passing = {"length": ValidationResult(passed=True)}
    validated = Validated(thought_id="run_1.0", results=passing)
    await semantic.put(run.apply(validated).apply(decided))
    hits = await semantic.search("car", limit=5, only=Filters(passed=True))
    assert (len(hits.hits), hits.search, embedder.embedded) == (1, "hybrid", 2)


async def test_a_server_without_dense_vectors_is_searched_by_words() -> None:
    server = ElasticsearchServer(vectors=False)
    index = ElasticsearchIndex(f"elasticsearch+http://{server.host}", embedder=ConceptEmbedder())
    run = made("A car.", run_id="run_1")
    await index.put(run)

    assert await index.catch_up() == 0
    hits = await index.search("car", limit=5)
    await index.aclose()
    server.stop()

    assert len(hits.hits) == 1
    assert hits.search.startswith("bm25 (semantic: the server keeps no vectors (")
    assert "dense_vector" in hits.search
