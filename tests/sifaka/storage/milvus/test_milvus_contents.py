"""The rows of the collections."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sifaka.errors import ConfigurationError
from sifaka.record.run import Run
from sifaka.storage.address import MILVUS, parse_store_url
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.milvus.client import MilvusClient, connect, pymilvus, tenant_key
from sifaka.storage.milvus.connection import enter, leave
from tests.storage_contract.runs import made

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
    address = parse_store_url(url, MILVUS)
    client = connect(address, enter(address).uri)
    yield client
    client.close()
    leave(address)


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


@pytest.mark.slow
async def test_a_long_text_is_never_cut_inside_a_character(
    index: MilvusIndex, raw: MilvusClient, keep: Keep
) -> None:
    for shift in range(3):
        run = await keep(index, "." * shift + "日" * 50_000)
        assert await index.thoughts(run.run_id) == run.thoughts
    parts = [row["payload"] for row in stored(raw, "sifaka_thoughts") if row["chunks"] > 1]
    assert len(parts) == 12
    assert all(len(part.encode()) <= 65_535 for part in parts)


async def test_names_of_tenants_are_not_stored(
    index: MilvusIndex, raw: MilvusClient, keep: Keep
) -> None:
    await keep(index.scoped('"; ü'), "x")
    (row,) = stored(raw, "sifaka_thoughts")
    assert row["tenant"] == tenant_key('"; ü')


async def test_prefixes_are_indexes_of_their_own(url: str, keep: Keep) -> None:
    ours, theirs = MilvusIndex(url), MilvusIndex(f"{url}?prefix=theirs")
    run = await keep(ours, "x")
    assert await theirs.thoughts(run.run_id) == ()
    await ours.aclose()
    await theirs.aclose()


async def test_a_dropped_run_is_not_left_in_the_files_of_milvus_lite(tmp_path: Path) -> None:
    index = MilvusIndex(f"milvus:///{tmp_path}/runs.db")
    runs = [made(f"The refund of customer{number} is due.") for number in range(20)]
    for run in runs:
        await index.put(run)
    assert b"customer3" in _content(tmp_path)

    for run in runs[:15]:
        await index.drop(run.run_id)
    await index.catch_up()

    held = _content(tmp_path)
    assert [n for n in range(15) if f"customer{n} is".encode() in held] == []
    assert len((await index.search("refund", limit=99)).hits) == 5
    await index.aclose()


def _content(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
