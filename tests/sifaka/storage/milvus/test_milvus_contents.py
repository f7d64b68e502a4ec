"""The rows of the collections."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest

from sifaka.errors import ConfigurationError
from sifaka.record.run import Run
from sifaka.storage.milvus import MilvusIndex, worker
from sifaka.storage.milvus.client import MilvusClient, connect, parse_address, pymilvus
from sifaka.storage.milvus.rows import tenant_key
from sifaka.storage.milvus.schema import ensure

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


@pytest.fixture
async def index(url: str) -> AsyncGenerator[MilvusIndex]:
    index = MilvusIndex(url)
    yield index
    await index.aclose()


@pytest.fixture
async def raw(url: str) -> AsyncGenerator[MilvusClient]:
    """Another client of the same folder."""
    address = parse_address(url)
    assert address.folder
    client = connect(address, worker.start_lite(address.folder))
    yield client
    client.close()
    worker.stop_lite(address.folder)


def stored(client: MilvusClient, collection: str) -> list[Any]:
    return list(client.query(collection, filter='pk != ""', output_fields=["*"], limit=1000))


async def test_a_foreign_collection_is_named_and_not_touched(url: str, raw: MilvusClient) -> None:
    package = pymilvus()
    schema = package.MilvusClient.create_schema()
    schema.add_field("id", package.DataType.INT64, is_primary=True)
    schema.add_field("v", package.DataType.FLOAT_VECTOR, dim=2)
    raw.create_collection("sifaka_thoughts", schema=schema)
    raw.upsert("sifaka_thoughts", [{"id": 1, "v": [0.0, 1.0]}])
    before = raw.describe_collection("sifaka_thoughts")
    index = MilvusIndex(url)

    with pytest.raises(ConfigurationError, match="'sifaka_thoughts' is not one of Sifaka's"):
        await index.search("x", limit=1)

    await index.aclose()
    assert raw.describe_collection("sifaka_thoughts") == before


async def test_words_of_a_version_that_is_not_there_count_for_nothing(
    index: MilvusIndex, raw: MilvusClient, keep: Keep
) -> None:
    run = await keep(index, "The zebra sleeps.")
    raw.delete("sifaka_thoughts", ids=[row["pk"] for row in stored(raw, "sifaka_thoughts")])

    assert (await index.search("zebra", limit=5)).hits == ()
    assert await index.thoughts(run.run_id) == ()
    await index.drop(run.run_id)
    assert stored(raw, "sifaka_thought_terms") == []


async def test_a_long_text_is_never_cut_inside_a_character(
    index: MilvusIndex, raw: MilvusClient, keep: Keep
) -> None:
    for shift in range(3):
        run = await keep(index, "." * shift + "日" * 50_000)
        assert await index.thoughts(run.run_id) == run.thoughts
    parts = [row["payload"] for row in stored(raw, "sifaka_thoughts") if row["chunks"] > 1]
    assert len(parts) == 9
    assert all(len(part.encode()) <= 65_535 for part in parts)


async def test_names_of_tenants_are_not_stored(
    index: MilvusIndex, raw: MilvusClient, keep: Keep
) -> None:
    await keep(index.scoped('"; ü'), "x")
    (row,) = stored(raw, "sifaka_thoughts")
    assert row["tenant"] == tenant_key('"; ü')


async def test_prefixes_are_indexes_of_their_own(url: str, keep: Keep) -> None:
    ours, theirs = MilvusIndex(url), MilvusIndex.of_url(f"{url}?prefix=theirs")
    run = await keep(ours, "x")
    assert await theirs.thoughts(run.run_id) == ()
    await ours.aclose()
    await theirs.aclose()


async def test_the_words_of_an_earlier_release_are_made_anew(
    url: str, index: MilvusIndex, raw: MilvusClient, keep: Keep
) -> None:
    run = await keep(index, "我们在三十天内退款。")
    # As an earlier release left it: no collection of terms, one of words.
    await index.aclose()
    raw.drop_collection("sifaka_thought_terms")
    ensure(raw, "milvus", "sifaka_thought_words", "words")
    later = MilvusIndex(url)

    hits = await later.search("退款", limit=5)

    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "bm25"
    assert "sifaka_thought_words" not in raw.list_collections()
    other = await keep(later, "हम पैसे वापस करते हैं।")
    assert [hit.run_id for hit in (await later.search("पैसा", limit=5)).hits] == [other.run_id]
    assert await later.catch_up() == 0
    await later.aclose()
