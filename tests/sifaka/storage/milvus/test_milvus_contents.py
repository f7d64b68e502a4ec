"""What lies in the collections, and what does not count."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from anyio import fail_after

from sifaka.errors import ConfigurationError, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Drafted, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.milvus import MilvusStorage, lite
from sifaka.storage.milvus.address import parse_address
from sifaka.storage.milvus.client import MilvusClient, connect, pymilvus
from sifaka.storage.milvus.rows import tenant_key
from sifaka.storage.timestamps import to_microseconds

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


@pytest.fixture
async def store(url: str) -> AsyncGenerator[MilvusStorage]:
    store = MilvusStorage(url)
    yield store
    await store.aclose()


@pytest.fixture
async def raw(url: str) -> AsyncGenerator[MilvusClient]:
    """Another client of the same folder."""
    address = parse_address(url)
    assert address.folder
    client = connect(address, lite.start(address.folder))
    yield client
    client.close()
    lite.stop(address.folder)


def drafted(run: Run, text: str) -> tuple[Drafted, Run]:
    entry = Drafted(thought=Thought(run_id=run.run_id, iteration=len(run.thoughts), text=text))
    return entry, run.apply(entry)


def stored(client: MilvusClient, collection: str) -> list[Any]:
    return list(client.query(collection, filter='pk != ""', output_fields=["*"], limit=1000))


async def test_a_foreign_collection_is_named_and_not_touched(url: str, raw: MilvusClient) -> None:
    package = pymilvus()
    schema = package.MilvusClient.create_schema()
    schema.add_field("id", package.DataType.INT64, is_primary=True)
    schema.add_field("v", package.DataType.FLOAT_VECTOR, dim=2)
    raw.create_collection("sifaka_entries", schema=schema)
    raw.upsert("sifaka_entries", [{"id": 1, "v": [0.0, 1.0]}])
    before = raw.describe_collection("sifaka_entries")
    store = MilvusStorage(url)

    with pytest.raises(ConfigurationError, match="'sifaka_entries' is not one of Sifaka's"):
        await store.recent(limit=1)

    await store.aclose()
    assert raw.describe_collection("sifaka_entries") == before


async def test_what_is_left_of_an_append_that_failed_does_not_count(
    url: str, raw: MilvusClient, keep: Keep
) -> None:
    writer = MilvusStorage(url)
    run = await keep(writer, "The zebra sleeps.")
    before = stored(raw, "sifaka_runs")
    entry, after = drafted(run, "giraffe " * 20_000)
    await writer.append(after, [entry], expected_version=run.version)
    raw.upsert("sifaka_runs", before)  # as if its last write had not happened
    await writer.aclose()

    reader = MilvusStorage(url)
    assert await reader.load(run.run_id) == run
    assert (await reader.search("giraffe", limit=5)).hits == ()
    stop = Stopped(status="done", stop_reason="passed")
    ended = run.apply(stop)
    await reader.append(ended, [stop], expected_version=run.version)
    assert await reader.load(run.run_id) == ended
    assert (await reader.search("giraffe", limit=5)).hits == ()
    await reader.delete(run.run_id)
    await reader.aclose()
    assert stored(raw, "sifaka_entries") == stored(raw, "sifaka_words") == []


async def test_an_entry_that_is_lost_or_changed_is_noticed(
    store: MilvusStorage, raw: MilvusClient, keep: Keep
) -> None:
    run = await keep(store, "The zebra sleeps.")
    other = await keep(store, "The lion sleeps.")
    (row,) = (
        row
        for row in stored(raw, "sifaka_entries")
        if row["kind"] == "drafted" and "zebra" in row["payload"]
    )

    raw.upsert("sifaka_entries", [{**row, "payload": row["payload"].replace("zebra", "okapi")}])
    with pytest.raises(StorageError, match=f"entries of run '{run.run_id}'"):
        await store.load(run.run_id)
    raw.delete("sifaka_entries", ids=[row["pk"]])
    with pytest.raises(StorageError, match=f"entries of run '{run.run_id}'"):
        await store.load(run.run_id)

    assert await store.load(other.run_id) == other


async def test_a_long_text_is_never_cut_inside_a_character(
    store: MilvusStorage, raw: MilvusClient, keep: Keep
) -> None:
    for shift in range(3):
        run = await keep(store, "." * shift + "日" * 50_000)
        assert await store.load(run.run_id) == run
    parts = [row["payload"] for row in stored(raw, "sifaka_entries") if row["chunks"] > 1]
    assert len(parts) == 9
    assert all(len(part.encode()) <= 65_535 for part in parts)


async def test_an_index_that_lost_versions_is_filled_again(
    url: str, raw: MilvusClient, keep: Keep
) -> None:
    writer = MilvusStorage(url)
    run = await keep(writer.scoped("ann"), "The zebra sleeps.")
    await writer.aclose()
    raw.drop_collection("sifaka_words")

    reader = MilvusStorage(url)
    assert (await reader.scoped("ann").search("zebra", limit=5)).hits == ()
    assert await reader.catch_up() == 0
    (hit,) = (await reader.scoped("ann").search("zebra", limit=5)).hits
    assert hit.run_id == run.run_id
    await reader.aclose()


async def test_names_of_tenants_are_not_stored(
    store: MilvusStorage, raw: MilvusClient, keep: Keep
) -> None:
    await keep(store.scoped('"; ü'), "x")
    (row,) = stored(raw, "sifaka_runs")
    assert row["tenant"] == tenant_key('"; ü')


async def test_prefixes_are_stores_of_their_own(url: str, keep: Keep) -> None:
    ours, theirs = MilvusStorage(url), MilvusStorage.of_url(f"{url}?prefix=theirs")
    run = await keep(ours, "x")
    with pytest.raises(ThoughtNotFound):
        await theirs.load(run.run_id)
    await ours.aclose()
    await theirs.aclose()


async def test_a_run_that_has_expired_is_nowhere_and_is_swept(
    url: str, raw: MilvusClient, keep: Keep
) -> None:
    kept, brief = MilvusStorage(url), MilvusStorage(url, ttl=0.001)
    stays = await keep(kept, "The zebra sleeps.")
    run = await keep(brief, "The zebra wakes.")
    entry, after = drafted(run, "x")
    await _until_gone(brief, run.run_id)

    with pytest.raises(VersionConflict) as caught:
        await kept.append(after, [entry], expected_version=run.version)
    assert caught.value.found == 0
    assert [line.run_id for line in (await kept.recent(limit=5)).runs] == [stays.run_id]
    hits = (await kept.search("zebra", limit=5)).hits
    assert [hit.run_id for hit in hits] == [stays.run_id]
    for call in (brief.claim, brief.size):
        with pytest.raises(ThoughtNotFound):
            await call(run.run_id)

    assert await kept.catch_up() == 0
    assert {row["run_id"] for row in stored(raw, "sifaka_runs")} - {""} == {stays.run_id}
    assert len(stored(raw, "sifaka_entries")) == 2
    assert len(stored(raw, "sifaka_words")) == 1
    await kept.aclose()
    await brief.aclose()


async def test_every_append_postpones_the_end(url: str, raw: MilvusClient, keep: Keep) -> None:
    store = MilvusStorage.of_url(f"{url}?ttl=1h")
    run = await keep(store, "x")
    (first,) = stored(raw, "sifaka_runs")
    entry, after = drafted(run, "y")
    await store.append(after, [entry], expected_version=run.version)
    (second,) = stored(raw, "sifaka_runs")
    await store.aclose()
    assert first["expires_at"] < second["expires_at"]
    assert 3_590_000_000 < second["expires_at"] - to_microseconds(entry.at) < 3_610_000_000


async def _until_gone(store: MilvusStorage, run_id: str) -> None:
    with fail_after(10), suppress(ThoughtNotFound):
        while True:
            await store.load(run_id)
