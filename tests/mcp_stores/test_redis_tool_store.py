"""Two stores with a session each are as two processes: they share nothing but Redis."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

from sifaka.errors import Fenced, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.tool_backed import RedisToolStorage
from sifaka_mcp.stores.tool_sessions import StdioToolSession
from tests.stubs.redis_server import redis_server, shared_redis
from tests.stubs.tool_sessions import redis_mcp_executable

pytestmark = [pytest.mark.anyio, pytest.mark.servers]


def command(url: str) -> list[str]:
    return [redis_mcp_executable(), "--url", url]


@pytest.fixture
async def stores() -> AsyncGenerator[tuple[RedisToolStorage, RedisToolStorage]]:
    prefix = uuid4().hex
    async with AsyncExitStack() as stack:
        made: list[RedisToolStorage] = []
        for _ in range(2):
            session = StdioToolSession(command(shared_redis().url))
            made.append(RedisToolStorage(session, prefix=prefix))
            stack.push_async_callback(made[-1].aclose)
        yield made[0], made[1]


async def begin(store: ThoughtStore, run_id: str = "") -> Run:
    started = Started(run_id=run_id) if run_id else Started()
    await store.append(Run.start(started), [started], expected_version=0)
    return Run.start(started)


async def append(store: ThoughtStore, run: Run, text: str, fence: int | None = None) -> Run:
    entry = Drafted(thought=Thought(run_id=run.run_id, iteration=len(run.thoughts), text=text))
    after = run.apply(entry)
    await store.append(after, [entry], expected_version=run.version, fence=fence)
    return after


async def test_writers_in_two_processes_lose_and_double_nothing(
    stores: tuple[RedisToolStorage, RedisToolStorage],
) -> None:
    run = await begin(stores[0])
    conflicts: list[VersionConflict] = []

    async def write(writer: int) -> None:
        for number in range(8):
            while True:
                store = stores[writer % 2]
                known = await store.load(run.run_id)
                try:
                    await append(store, known, f"{writer}:{number}")
                except VersionConflict as conflict:
                    conflicts.append(conflict)
                else:
                    break

    async with anyio.create_task_group() as group:
        for writer in range(4):
            group.start_soon(write, writer)

    texts = [thought.text for thought in (await stores[0].load(run.run_id)).thoughts]
    assert sorted(texts) == sorted(f"{w}:{n}" for w in range(4) for n in range(8))
    assert conflicts, "the writers never met"


async def test_a_process_with_an_old_view_is_refused_and_then_goes_on(
    stores: tuple[RedisToolStorage, RedisToolStorage],
) -> None:
    mine, theirs = stores
    run = await begin(mine)
    after = await append(theirs, run, "theirs")

    with pytest.raises(VersionConflict) as caught:
        await append(mine, run, "mine")

    assert (caught.value.expected, caught.value.found) == (1, 2)
    last = await append(mine, await mine.load(run.run_id), "mine, after theirs")
    assert await theirs.load(run.run_id) == last
    assert [thought.text for thought in last.thoughts] == ["theirs", "mine, after theirs"]
    assert last.thoughts[:1] == after.thoughts


async def test_a_claim_fences_another_process(
    stores: tuple[RedisToolStorage, RedisToolStorage],
) -> None:
    old, new = stores
    run = await begin(old)
    fences = [await old.claim(run.run_id), await new.claim(run.run_id)]

    with pytest.raises(Fenced):
        await append(old, run, "late", fence=fences[0])

    assert fences == [1, 2]
    assert await append(new, run, "in time", fence=fences[1]) == await old.load(run.run_id)


async def test_a_run_that_another_process_has_deleted_or_begun_anew_is_not_mixed_up(
    stores: tuple[RedisToolStorage, RedisToolStorage],
) -> None:
    mine, theirs = stores
    run = await append(mine, await begin(mine, "same"), "old")
    await theirs.delete("same")

    with pytest.raises(VersionConflict):
        await append(mine, run, "late")
    with pytest.raises(ThoughtNotFound):
        await mine.load("same")
    with pytest.raises(ThoughtNotFound):
        await mine.claim("same")

    anew = await append(theirs, await begin(theirs, "same"), "new")
    await append(theirs, anew, "newer")
    with pytest.raises(VersionConflict):
        await append(mine, run, "late")
    assert [thought.text for thought in (await mine.load("same")).thoughts] == ["new", "newer"]


async def test_a_follower_notices_that_another_process_has_deleted_the_run(
    stores: tuple[RedisToolStorage, RedisToolStorage],
) -> None:
    run = await begin(stores[0])
    steps = stores[0].follow(run.run_id)
    assert (await anext(steps))[1] == run
    await stores[1].delete(run.run_id)

    with pytest.raises(ThoughtNotFound), anyio.fail_after(30):
        await anext(steps)


async def test_a_cursor_of_one_process_is_good_in_another(
    stores: tuple[RedisToolStorage, RedisToolStorage],
) -> None:
    runs = [await begin(stores[0]) for _ in range(3)]
    cursor = (await stores[0].recent(limit=1)).next_cursor

    rest = (await stores[1].recent(limit=5, cursor=cursor)).runs

    assert [line.run_id for line in rest] == [runs[1].run_id, runs[0].run_id]


async def test_a_long_list_is_read_by_windows(
    stores: tuple[RedisToolStorage, RedisToolStorage],
) -> None:
    ids = [(await begin(stores[0])).run_id for _ in range(230)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await stores[1].recent(limit=90, cursor=cursor)
        seen += [line.run_id for line in page.runs]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert seen == list(reversed(ids))
    assert (await stores[1].search("x", limit=1)).search == "bm25 (the latest 200 runs)"


async def test_what_others_wrote_under_our_keys_is_an_error_and_no_entry(
    stores: tuple[RedisToolStorage, RedisToolStorage],
) -> None:
    run = await begin(stores[0], "spoilt")
    good = await begin(stores[0], "good")
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
        run = await begin(store)
        (health,) = await store.health()
        assert (health.works, health.found[:6]) == (True, "Redis ")

        server.kill()
        with pytest.raises(StorageError) as caught:
            await append(store, run, "lost")
        (away,) = await store.health()
        server.start()
        after = await append(store, run, "kept")

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
    run = await begin(store)

    async def kill() -> None:
        os.kill(int(file.read_text()), signal.SIGKILL)

    async with anyio.create_task_group() as group:
        group.start_soon(kill)
        for number in range(5):
            run = await append(store, run, f"{number}")

    assert await store.load(run.run_id) == run
    await store.aclose()
