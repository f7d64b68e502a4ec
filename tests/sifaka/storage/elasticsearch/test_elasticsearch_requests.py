"""The requests word for word: what a real server would be sent."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.elasticsearch import ElasticsearchStorage
from sifaka.storage.elasticsearch.records import run_key
from sifaka.storage.protocol import Filters
from sifaka.storage.timestamps import to_microseconds
from tests.stubs.elasticsearch_server import ElasticsearchServer
from tests.stubs.embedders import ConceptEmbedder

pytestmark = pytest.mark.anyio
Made = Callable[..., tuple[Run, tuple[Entry, ...]]]
KEY = run_key("default", "run_1")
SHOWN = ["key", "generation", "thought_id", "created_at", "excerpt"]


def sent(server: ElasticsearchServer) -> list[str]:
    """Each request in a line, with its parameters in their order."""
    return [
        " ".join([r.method, r.path, *(f"{n}={v}" for n, v in sorted(r.parameters.items()))])
        for r in server.requests
    ]


def bodies(server: ElasticsearchServer, suffix: str) -> list[Any]:
    return [r.lines if suffix == "_bulk" else r.json for r in server.requests if suffix in r.path]


async def append(
    store: ElasticsearchStorage, run: Run, entries: Sequence[Entry], expected: int = 0
) -> None:
    await store.append(run, entries, expected_version=expected)


async def test_the_indices_are_created_with_their_layouts(server: ElasticsearchServer) -> None:
    store = ElasticsearchStorage.of_url(f"elasticsearch+http://{server.host}?prefix=x")
    await store.search("word", limit=1)
    await store.aclose()

    runs, entries, thoughts = (r.json for r in server.requests[:3])
    assert sent(server)[:3] == ["PUT /x-runs-1", "PUT /x-entries-1", "PUT /x-thoughts-1"]
    kept = {"type": "object", "enabled": False}
    assert entries == {
        "aliases": {"x-entries": {}},
        "mappings": {
            "dynamic": "strict",
            "properties": {"generation": {"type": "keyword"}, "payload": kept},
        },
    }
    assert runs["mappings"]["properties"]["summary"] == kept
    assert runs["mappings"]["properties"]["updated_at"] == {"type": "long"}
    assert thoughts["settings"]["analysis"]["analyzer"]["prose"] == {
        "type": "custom",
        "char_filter": ["only_words"],
        "tokenizer": "standard",
        "filter": ["lowercase", "asciifolding", "plurals"],
    }
    assert thoughts["mappings"]["properties"]["text"] == {"type": "text", "analyzer": "prose"}


async def test_a_new_run_is_created_after_its_entries(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("Café\nnoir.", prompt="Say it.", tags=("legal",))
    await append(store, run, entries)

    assert sent(server) == [
        f"GET /sifaka-runs/_doc/{KEY}",
        "POST /sifaka-entries/_bulk require_alias=true",
        f"PUT /sifaka-runs/_create/{KEY} require_alias=true",
        "POST /sifaka-thoughts/_bulk require_alias=true",
        f"PUT /sifaka-runs/_doc/{KEY} if_primary_term=1 if_seq_no=1 require_alias=true",
    ]
    payloads = [entry.model_dump_json() for entry in entries]
    stored, thoughts = bodies(server, "_bulk")
    generation = stored[1]["generation"]
    assert stored == [
        {"create": {"_id": f"{generation}:1"}},
        {"generation": generation, "payload": payloads[0]},
        {"create": {"_id": f"{generation}:2"}},
        {"generation": generation, "payload": payloads[1]},
    ]
    record = {
        "tenant": "default",
        "run_id": "run_1",
        "key": KEY,
        "generation": generation,
        "version": 2,
        "fence": 0,
        "size": sum(len(payload.encode()) for payload in payloads),
        "updated_at": to_microseconds(run.updated_at),
        "passed": False,
        "indexed": False,
        "tags": ["legal"],
        "summary": run.summary().model_dump_json(),
    }
    assert server.requests[2].json == record
    assert server.requests[4].json == {**record, "indexed": True}
    assert thoughts == [
        {"update": {"_id": f"{generation}:0", "retry_on_conflict": 3}},
        {
            "doc": {
                "tenant": "default",
                "run_id": "run_1",
                "key": KEY,
                "generation": generation,
                "thought_id": "run_1.0",
                "created_at": to_microseconds(run.thoughts[0].created_at),
                "passed": False,
                "tags": ["legal"],
                "text": "Café noir.",
                "prompt": "Say it.",
                "excerpt": "Café noir.",
            },
            "doc_as_upsert": True,
        },
    ]


async def test_a_later_append_is_tied_to_the_record_that_it_follows(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("x", "y")
    await append(store, Run.replay(entries[:2]), entries[:2])
    server.requests.clear()

    await append(store, run, entries[2:], expected=2)

    assert sent(server) == [
        f"GET /sifaka-runs/_doc/{KEY}",
        "POST /sifaka-entries/_bulk require_alias=true",
        f"PUT /sifaka-runs/_doc/{KEY} if_primary_term=1 if_seq_no=2 require_alias=true",
        "POST /sifaka-thoughts/_bulk require_alias=true",
        f"PUT /sifaka-runs/_doc/{KEY} if_primary_term=1 if_seq_no=3 require_alias=true",
    ]
    _, thoughts = bodies(server, "_bulk")
    assert [line["doc"]["text"] for line in thoughts[1::2]] == ["y"]


async def test_a_search_by_words(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("A short text.", tags=("legal",))
    await append(store, run, entries)
    server.requests.clear()
    moment = run.thoughts[0].created_at

    only = Filters(since=moment, passed=False, tags=("legal",))
    (hit,) = (await store.search('"SHORT" OR texts*', limit=5, only=only)).hits

    assert sent(server) == [
        "POST /sifaka-thoughts/_refresh",
        "POST /sifaka-thoughts/_search",
        "POST /sifaka-runs/_mget",
    ]
    assert server.requests[1].json == {
        "query": {
            "bool": {
                "must": [
                    {
                        "multi_match": {
                            "query": "SHORT OR texts",
                            "fields": ["text", "prompt^0.5"],
                            "type": "most_fields",
                        }
                    }
                ],
                "filter": [
                    {"term": {"tenant": "default"}},
                    {"range": {"created_at": {"gte": to_microseconds(moment)}}},
                    {"term": {"passed": False}},
                    {"term": {"tags": "legal"}},
                ],
            }
        },
        "sort": [{"_score": "desc"}, {"created_at": "desc"}, {"key": "desc"}],
        "size": 15,
        "_source": SHOWN,
        "track_total_hits": False,
        "highlight": {
            "pre_tags": ["\ue000"],
            "post_tags": ["\ue001"],
            "number_of_fragments": 1,
            "fields": {"text": {}, "prompt": {}},
        },
    }
    assert server.requests[2].json == {"ids": [KEY]}
    assert hit.snippet == "A **short** **text**."


async def test_a_search_by_meaning(
    server: ElasticsearchServer,
    semantic: ElasticsearchStorage,
    embedder: ConceptEmbedder,
    drafted: Made,
) -> None:
    run, entries = drafted("An automobile.")
    await append(semantic, run, entries)
    assert await semantic.catch_up() == 0
    server.requests.clear()

    await semantic.search("car", limit=5)

    (vector,) = await embedder.embed(["car"], role="query")
    by_meaning = next(r.json for r in server.requests if b'"knn"' in r.body)
    field = by_meaning["knn"]["field"]
    assert field.startswith("vector_")
    tenant = {"term": {"tenant": "default"}}
    assert by_meaning == {
        "knn": {
            "field": field,
            "query_vector": list(vector),
            "k": 10,
            "num_candidates": 100,
            "similarity": 0.0002,
            "filter": [tenant],
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


async def test_a_page_of_recent_runs_goes_on_after_the_last(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    for number in range(3):
        run, entries = drafted("x", run_id=f"run_{number}")
        await append(store, run, entries)
    first = await store.recent(limit=1)
    server.requests.clear()

    await store.recent(limit=1, cursor=first.next_cursor)

    body = bodies(server, "_search")[0]
    bound = body["query"]["bool"]["must_not"][0]["range"]["expires_at"].pop("lte")
    assert bound > to_microseconds(first.runs[0].updated_at)
    assert body == {
        "query": {
            "bool": {
                "filter": [{"term": {"tenant": "default"}}],
                "must_not": [{"range": {"expires_at": {}}}],
            }
        },
        "sort": [{"updated_at": "desc"}, {"key": "desc"}],
        "size": 2,
        "_source": ["run_id", "summary"],
        "track_total_hits": False,
        "search_after": [
            to_microseconds(first.runs[0].updated_at),
            run_key("default", first.runs[0].run_id),
        ],
    }


async def test_a_text_of_all_scripts_is_sent_as_it_is(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    text = "日本語 \u2028 \x85 👩‍👩‍👧 \\n"
    run, entries = drafted(text)
    await append(store, run, entries)

    body = next(r.body for r in server.requests if r.path == "/sifaka-entries/_bulk")
    assert json.loads(body.split(b"\n")[3])["payload"] == entries[1].model_dump_json()
    assert (await store.load("run_1")).thoughts[0].text == text
