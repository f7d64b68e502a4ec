"""Servers: away, back again, refusing, shared by processes, old."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sifaka.errors import StorageError
from sifaka.record.run import Run
from sifaka.storage.milvus import MilvusIndex
from tests.stubs.milvus_server import (
    OLD_TOKEN,
    free_ports,
    server_2_3,
    start_lite_server,
)

pytestmark = [pytest.mark.anyio, pytest.mark.servers]
Keep = Callable[..., Awaitable[Run]]


async def test_a_server_that_is_away_is_a_failure_that_may_pass(tmp_path: Path, keep: Keep) -> None:
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


async def test_a_wrong_password_is_told_and_not_shown() -> None:
    url = server_2_3()
    for wrong in (url.replace(OLD_TOKEN, "root:guess"), url.replace(f"{OLD_TOKEN}@", "")):
        index = MilvusIndex(wrong)
        with pytest.raises(StorageError, match="refuses the user name") as caught:
            await index.search("x", limit=1)
        assert "guess" not in str(caught.value)
        assert not caught.value.retryable
        await index.aclose()


async def test_an_old_server_says_what_it_lacks(keep: Keep) -> None:
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
