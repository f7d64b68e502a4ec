"""What an append puts off, and what outlives its time."""

from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest

from sifaka.errors import ConfigurationError, StorageError, ThoughtNotFound
from sifaka.record.entries import Decided, Decision, Drafted, Entry
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.elasticsearch import ElasticsearchStorage
from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.elasticsearch.records import read_record, run_key
from sifaka.storage.protocol import Filters
from sifaka.storage.timestamps import to_microseconds
from tests.stubs.elasticsearch_errors import rejected
from tests.stubs.elasticsearch_server import ElasticsearchServer, Request
from tests.stubs.embedders import ConceptEmbedder, PickyEmbedder

pytestmark = pytest.mark.anyio
Made = Callable[..., tuple[Run, tuple[Entry, ...]]]


def refuse_indexing(request: Request) -> None:
    if request.path == "/sifaka-thoughts/_bulk":
        raise rejected()


async def found(store: ElasticsearchStorage, query: str) -> list[str]:
    return [hit.thought_id for hit in (await store.search(query, limit=9)).hits]


async def test_versions_that_could_not_be_indexed_are_indexed_later(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("A heron.", "A stork.")
    server.intercept = refuse_indexing
    await store.append(run, entries, expected_version=0)
    assert await store.load("run_1") == run
    with pytest.raises(StorageError):
        await store.catch_up()
    server.intercept = None
    assert await found(store, "heron") == []

    assert await store.catch_up() == 0

    assert await found(store, "heron") == ["run_1.0"]
    assert await found(store, "storks") == ["run_1.1"]


async def test_the_next_append_indexes_what_the_one_before_could_not(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("A heron.")
    server.intercept = refuse_indexing
    await store.append(run, entries, expected_version=0)
    server.intercept = None
    draft = Drafted(thought=Thought(run_id="run_1", iteration=1, text="A stork."))

    await store.append(run.apply(draft), [draft], expected_version=run.version)

    assert await found(store, "heron") == ["run_1.0"]


async def test_a_late_index_of_an_earlier_state_is_put_right(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("A heron.")
    decided = Decided(thought_id="run_1.0", decision=Decision(accepted=True, reason=""))

    async def overtake() -> None:
        other = ElasticsearchStorage.of_url(f"elasticsearch+http://{server.host}")
        await other.append(run.apply(decided), [decided], expected_version=run.version)
        await other.aclose()

    def intercept(request: Request) -> None:
        if request.path == "/sifaka-thoughts/_bulk":
            server.intercept = None
            anyio.run(overtake)

    server.intercept = intercept
    await store.append(run, entries, expected_version=0)

    hits = await store.search("heron", limit=5, only=Filters(passed=True))
    assert [hit.thought_id for hit in hits.hits] == ["run_1.0"]


async def test_vectors_are_made_later_and_found_by_meaning(
    semantic: ElasticsearchStorage, drafted: Made
) -> None:
    for number, text in enumerate(["The automobile is red.", "A physician called.", "Nothing."]):
        run, entries = drafted(text, run_id=f"run_{number}")
        await semantic.append(run, entries, expected_version=0)
    before = await semantic.search("car", limit=5)
    assert (before.hits, before.search) == ((), "hybrid (3 versions are not embedded yet)")

    assert await semantic.catch_up() == 0

    hits = await semantic.search("car", limit=5)
    assert hits.search == "hybrid"
    assert [(hit.run_id, hit.snippet) for hit in hits.hits] == [("run_0", "The automobile is red.")]
    both = await semantic.search("car red physician", limit=5)
    assert {hit.run_id for hit in both.hits} == {"run_0", "run_1"}


async def test_more_texts_than_a_batch_are_embedded_bit_by_bit(
    semantic: ElasticsearchStorage, embedder: ConceptEmbedder, drafted: Made
) -> None:
    run, entries = drafted(*(f"car number {n}" for n in range(100)))
    await semantic.append(run, entries, expected_version=0)

    assert await semantic.catch_up() == 36
    assert await semantic.catch_up() == 0
    assert embedder.batches == [64, 36]
    assert await semantic.catch_up() == 0
    assert embedder.embedded == 100


async def test_a_vector_outlives_a_change_of_its_document(
    semantic: ElasticsearchStorage, embedder: ConceptEmbedder, drafted: Made
) -> None:
    run, entries = drafted("An automobile.")
    await semantic.append(run, entries, expected_version=0)
    await semantic.catch_up()
    decided = Decided(thought_id="run_1.0", decision=Decision(accepted=True, reason=""))
    await semantic.append(run.apply(decided), [decided], expected_version=run.version)

    hits = await semantic.search("car", limit=5, only=Filters(passed=True))

    assert (len(hits.hits), hits.search, embedder.embedded) == (1, "hybrid", 2)


async def test_another_models_vectors_are_never_compared(
    server: ElasticsearchServer, semantic: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("An automobile.")
    await semantic.append(run, entries, expected_version=0)
    await semantic.catch_up()
    other = ElasticsearchStorage.of_url(
        f"elasticsearch+http://{server.host}", embedder=ConceptEmbedder("concepts:2", dimension=12)
    )

    hits = await other.search("car", limit=5)
    assert (hits.hits, hits.search) == ((), "hybrid (1 version is not embedded yet)")
    await other.catch_up()
    assert len((await other.search("car", limit=5)).hits) == 1
    assert len((await semantic.search("car", limit=5)).hits) == 1
    await other.aclose()


async def test_the_same_model_with_another_dimension_is_refused(
    server: ElasticsearchServer, semantic: ElasticsearchStorage
) -> None:
    await semantic.search("car", limit=1)
    other = ElasticsearchStorage.of_url(
        f"elasticsearch+http://{server.host}", embedder=ConceptEmbedder(dimension=12)
    )

    with pytest.raises(ConfigurationError, match="dimension mismatch"):
        await other.search("car", limit=1)
    await other.aclose()


async def test_without_the_model_words_are_searched(
    semantic: ElasticsearchStorage, embedder: ConceptEmbedder, drafted: Made
) -> None:
    run, entries = drafted("A car.")
    await semantic.append(run, entries, expected_version=0)
    embedder.failure = "out of memory"

    hits = await semantic.search("car", limit=5)

    assert (len(hits.hits), hits.search) == (1, "bm25 (semantic: failed (out of memory))")
    with pytest.raises(StorageError, match="out of memory") as caught:
        await semantic.catch_up()
    assert caught.value.retryable


async def test_a_server_without_dense_vectors_is_searched_by_words(drafted: Made) -> None:
    server = ElasticsearchServer(vectors=False)
    store = ElasticsearchStorage.of_url(
        f"elasticsearch+http://{server.host}", embedder=ConceptEmbedder()
    )
    run, entries = drafted("A car.")
    await store.append(run, entries, expected_version=0)

    assert await store.catch_up() == 0
    hits = await store.search("car", limit=5)
    _, vectors = await store.health()
    await store.aclose()
    server.stop()

    assert len(hits.hits) == 1
    assert hits.search.startswith("bm25 (semantic: the server keeps no vectors (")
    assert "dense_vector" in hits.search
    assert not vectors.works


async def test_a_run_that_has_outlived_its_time_is_gone_and_swept(
    server: ElasticsearchServer, documents: Documents, drafted: Made
) -> None:
    brief = ElasticsearchStorage.of_url(f"elasticsearch+http://{server.host}?ttl=1h")
    run, entries = drafted("A heron.")
    await brief.append(run, entries, expected_version=0)
    held = await read_record(documents, run_key("default", "run_1"))
    assert held is not None
    until = held.record.expires_at
    assert until is not None
    hour = 3_600_000_000
    assert 0 < until - to_microseconds(run.updated_at) - hour < hour
    await held.replaced(documents, replace(held.record, expires_at=until - 2 * hour))
    kept, kept_entries = drafted("A heron.", run_id="kept")
    await brief.append(kept, kept_entries, expected_version=0)

    with pytest.raises(ThoughtNotFound):
        await brief.load("run_1")
    assert [line.run_id for line in (await brief.recent(limit=5)).runs] == ["kept"]
    assert await found(brief, "heron") == ["kept.0"]
    assert await brief.catch_up() == 0
    for index in ("sifaka-runs", "sifaka-entries", "sifaka-thoughts"):
        await documents.refresh(index)
        hits = await documents.search(index, {"query": {"bool": {}}, "size": 99})
        assert {hit["_source"].get("run_id", "kept") for hit in hits["hits"]} == {"kept"}
    await brief.append(run, entries, expected_version=0)
    assert await brief.load("run_1") == run
    await brief.aclose()


async def test_a_deletion_that_broke_off_shows_nothing_and_is_finished_later(
    server: ElasticsearchServer,
    store: ElasticsearchStorage,
    documents: Documents,
    drafted: Made,
) -> None:
    run, entries = drafted("A heron.")
    await store.append(run, entries, expected_version=0)

    def intercept(request: Request) -> None:
        if request.path.endswith("_delete_by_query"):
            raise rejected()

    server.intercept = intercept
    with pytest.raises(StorageError):
        await store.delete("run_1")
    with pytest.raises(ThoughtNotFound):
        await store.load("run_1")
    assert await found(store, "heron") == []
    assert (await store.recent(limit=5)).runs == ()
    server.intercept = None

    assert await store.catch_up() == 0
    await documents.refresh("sifaka-entries", "sifaka-thoughts")
    for index in ("sifaka-entries", "sifaka-thoughts"):
        assert (await documents.search(index, {"query": {"bool": {}}}))["hits"] == []


async def test_a_text_that_the_model_refuses_holds_up_no_other_and_is_not_tried_again(
    server: ElasticsearchServer, drafted: Made
) -> None:
    embedder = PickyEmbedder()
    store = ElasticsearchStorage.of_url(f"elasticsearch+http://{server.host}", embedder=embedder)
    run, entries = drafted("vehicle " * 400, "An automobile.")
    await store.append(run, entries, expected_version=0)

    assert await store.catch_up() == 0
    asked = len(embedder.batches)
    assert await store.catch_up() == 0

    assert await found(store, "motorcar") == [run.thoughts[1].id]
    assert len(embedder.batches) == asked + 1, "only the query was embedded"
    await store.aclose()
