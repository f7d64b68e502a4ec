"""Servers: away, back again, refusing, shared by processes, old."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from anyio import run_process

from sifaka.errors import Fenced, StorageError
from sifaka.record.entries import Drafted
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.milvus import MilvusStorage
from tests.stubs.milvus_server import (
    OLD_TOKEN,
    free_ports,
    lite_server,
    server_2_3,
    start_lite_server,
)

pytestmark = [pytest.mark.anyio, pytest.mark.servers]
Keep = Callable[..., Awaitable[Run]]
CLAIM = """
import sys, anyio
from sifaka.storage.milvus import MilvusStorage

async def main(url, run_id):
    store = MilvusStorage(url, prefix="processes")
    print(await store.claim(run_id))
    await store.aclose()

anyio.run(main, *sys.argv[1:])
"""


async def test_a_server_that_is_away_is_a_failure_that_may_pass(tmp_path: Path, keep: Keep) -> None:
    (port,) = free_ports(1)
    url, stop = start_lite_server(tmp_path, port)
    store = MilvusStorage(url)
    run = await keep(store, "x")
    stop()

    nobody = MilvusStorage(url)
    with pytest.raises(StorageError, match="cannot be reached") as caught:
        await nobody.load(run.run_id)
    assert caught.value.retryable
    (health,) = await nobody.health()
    assert (health.part, health.works) == (url, False)

    start_lite_server(tmp_path, port)
    assert await nobody.load(run.run_id) == run
    assert await store.load(run.run_id) == run
    (health,) = await nobody.health()
    assert health.works
    await nobody.aclose()
    await store.aclose()


async def test_who_claims_in_another_process_is_noticed(keep: Keep) -> None:
    store = MilvusStorage(lite_server(), prefix="processes")
    run = await keep(store, "x")
    entry = Drafted(thought=Thought(run_id=run.run_id, iteration=1, text="late"))
    done = await run_process([sys.executable, "-c", CLAIM, lite_server(), run.run_id])
    assert done.stdout == b"1\n"

    with pytest.raises(Fenced):
        await store.append(run.apply(entry), [entry], expected_version=run.version, fence=0)
    await store.aclose()


async def test_a_wrong_password_is_told_and_not_shown() -> None:
    url = server_2_3()
    for wrong in (url.replace(OLD_TOKEN, "root:guess"), url.replace(f"{OLD_TOKEN}@", "")):
        store = MilvusStorage(wrong)
        with pytest.raises(StorageError, match="refuses the user name") as caught:
            await store.recent(limit=1)
        assert "guess" not in str(caught.value)
        assert not caught.value.retryable
        await store.aclose()


async def test_an_old_server_says_what_it_lacks(keep: Keep) -> None:
    store = MilvusStorage(server_2_3(), prefix="by_meaning", tenant="old")
    run = await keep(store, "The zebra sleeps.")

    hits = await store.search("zebra", limit=5)
    (health,) = await store.health()

    assert [hit.run_id for hit in hits.hits] == [run.run_id]
    assert hits.search == "bm25 over the latest 500 runs (no full text on this server)"
    assert health.works
    assert "2.3.5" in health.found
    assert "no full text" in health.found
    await store.aclose()
