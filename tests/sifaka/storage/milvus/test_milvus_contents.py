"""Milvus: its rows, a folder that one process has open, and servers."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.run import Run
from sifaka.storage.address import MILVUS, parse_store_url
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.milvus.client import MilvusClient, connect, pymilvus
from sifaka.storage.milvus.connection import enter, leave
from tests.storage_contract.runs import made
from tests.stubs.embedders import ConceptEmbedder
from tests.stubs.milvus_server import OLD_TOKEN, free_ports, server_2_3, start_lite_server
from tests.stubs.runs import found

pytestmark = pytest.mark.anyio


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Of a Milvus Lite folder that is not there yet."""
    return f"milvus:///{tmp_path}/runs.db"


async def keep(index: MilvusIndex, text: str) -> Run:
    """Put a run of one text."""
    run = made(text, prompt="Say it.")
    await index.put(run)
    return run


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
    index: MilvusIndex, raw: MilvusClient
) -> None:
    run = await keep(index, "The zebra sleeps.")
    raw.delete("sifaka_thoughts", ids=[row["pk"] for row in stored(raw, "sifaka_thoughts")])
    assert (await index.search("zebra", limit=5)).hits == ()
    assert await index.thoughts(run.run_id) == ()
    await index.drop(run.run_id)
    assert stored(raw, "sifaka_thought_terms") == []


@pytest.mark.slow
async def test_a_long_text_is_never_cut_inside_a_character(
    index: MilvusIndex, raw: MilvusClient
) -> None:
    for shift in range(3):
        run = await keep(index, "." * shift + "日" * 50_000)
        assert await index.thoughts(run.run_id) == run.thoughts
    parts = [row["payload"] for row in stored(raw, "sifaka_thoughts") if row["chunks"] > 1]
    assert len(parts) == 12
    assert all(len(part.encode()) <= 65_535 for part in parts)


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


CHILD = """
import sys, anyio
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.milvus import MilvusIndex

async def main(url):
    index = MilvusIndex(url)
    started = Started(run_id="the-childs")
    await index.put(Run.start(started).apply(Drafted(thought=Thought(run_id="the-childs"))))
    print("stored", flush=True)
    sys.stdin.read()

anyio.run(main, sys.argv[1])
"""


def child(url: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
async def test_a_second_process_is_told_who_has_the_folder_and_loses_nothing(url: str) -> None:
    with child(url) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "stored\n"
            index = MilvusIndex(url)
            with pytest.raises(StorageError, match="another process has") as caught:
                await index.thoughts("the-childs")
            assert not isinstance(caught.value, ConfigurationError)
            (health,) = await index.health()
            assert not health.works
        finally:
            process.kill()  # nothing is closed, nothing is flushed
    # It was not open, so it can be opened now.
    assert len(await index.thoughts("the-childs")) == 1
    await index.aclose()


@pytest.mark.slow
async def test_a_closed_store_releases_the_folder_after_its_last_user(url: str) -> None:
    first, second = MilvusIndex(url), MilvusIndex(url)
    run = await keep(first, "x")
    assert await second.thoughts(run.run_id) == run.thoughts
    await first.aclose()
    assert await second.thoughts(run.run_id) == run.thoughts
    with pytest.raises(StorageError, match="is closed"):
        await first.thoughts(run.run_id)
    await second.aclose()

    with child(url) as process:
        out, _ = process.communicate("", timeout=60)
    assert out == "stored\n"


async def test_a_file_is_not_taken_for_a_folder(url: str, tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text("notes")
    index = MilvusIndex(url)
    with pytest.raises(ConfigurationError, match="is a file"):
        await index.search("x", limit=1)
    await index.aclose()
    assert (tmp_path / "runs.db").read_text() == "notes"


async def test_the_folder_is_for_its_owner_only(url: str, tmp_path: Path) -> None:
    index = MilvusIndex(url)
    await keep(index, "x")
    await index.aclose()
    assert (tmp_path / "runs.db").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_the_environment_is_not_filled_from_a_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_A_FILE=1\n")
    script = (
        "import os\nfrom sifaka.storage.milvus.client import pymilvus\n"
        "pymilvus()\nprint('FROM_A_FILE' in os.environ)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.fixture
def embedder() -> ConceptEmbedder:
    return ConceptEmbedder()


async def test_another_process_finds_what_has_no_vector_yet(
    url: str, embedder: ConceptEmbedder
) -> None:
    writer = MilvusIndex(url)
    run = await keep(writer, "The automobile stops.")
    await writer.aclose()
    reader = MilvusIndex(url, embedder=embedder)
    assert await reader.catch_up() == 0
    assert await found(reader, "car") == [run.run_id]
    await reader.aclose()


@pytest.mark.servers
async def test_a_server_without_full_text_is_searched_by_meaning(embedder: ConceptEmbedder) -> None:
    index = MilvusIndex(server_2_3(), prefix="by_meaning", embedder=embedder)
    run = await keep(index, "The automobile stops.")
    await keep(index, "The physician smiles.")
    assert await index.catch_up() == 0
    hits = await index.search("car", limit=5)
    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "dense (no full text on this server)"
    await index.drop(run.run_id)
    assert (await index.search("car", limit=5)).hits == ()
    await index.aclose()


@pytest.mark.servers
async def test_a_server_that_is_away_is_a_failure_that_may_pass(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    url, stop = start_lite_server(tmp_path, port)
    index = MilvusIndex(url)
    run = await keep(index, "x")
    stop()

    anonymous = MilvusIndex(url)
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        await anonymous.thoughts(run.run_id)
    assert caught.value.retryable
    (health,) = await anonymous.health()
    assert (health.part, health.works) == (url, False)

    start_lite_server(tmp_path, port)
    assert await anonymous.thoughts(run.run_id) == run.thoughts
    assert await index.thoughts(run.run_id) == run.thoughts
    (health,) = await anonymous.health()
    assert health.works
    await anonymous.aclose()
    await index.aclose()


@pytest.mark.servers
async def test_a_wrong_password_is_told_and_not_shown() -> None:
    url = server_2_3()
    for wrong in (url.replace(OLD_TOKEN, "root:guess"), url.replace(f"{OLD_TOKEN}@", "")):
        index = MilvusIndex(wrong)
        with pytest.raises(StorageError, match="refuses the user name") as caught:
            await index.search("x", limit=1)
        assert "guess" not in str(caught.value)
        assert not caught.value.retryable
        await index.aclose()


@pytest.mark.servers
async def test_an_old_server_says_what_it_lacks() -> None:
    index = MilvusIndex(server_2_3(), prefix="by_meaning", tenant="old")
    run = await keep(index, "The zebra sleeps.")
    hits = await index.search("zebra", limit=5)
    (health,) = await index.health()
    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "bm25 over the latest 2000 versions (no full text on this server)"
    assert health.works
    assert "2.3.5" in health.found
    assert "no full text" in health.found
    await index.aclose()
