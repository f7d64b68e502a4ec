"""Two servers over one Redis, and a Redis that dies while a run is worked on."""

import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread
import pytest
from mcp import Client

from sifaka import Chain, Thought
from sifaka.models import Generation
from sifaka.storage import MemoryStorage, open_store
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.lifespan import Lifespan
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call
from tests.stubs.redis_server import RedisServer, redis_server
from tests.stubs.servers import environment, http_server, stdio_server
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio
RULE = {"type": "content", "required": ["30 days"]}


@pytest.fixture
def redis() -> Generator[RedisServer]:
    with redis_server(appendfsync="always") as server:
        yield server


@pytest.mark.slow
async def test_a_run_begun_on_one_server_is_followed_and_finished_on_another(
    tmp_path: Path, redis: RedisServer
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    with http_server(one, SIFAKA_STORE=redis.url) as (url, _):
        async with (
            Client(url) as first,
            Client(stdio_server(two, SIFAKA_STORE=redis.url)) as second,
        ):
            begun = await call(
                first,
                "improve_text",
                text="You may return the the order.",
                validators=[RULE],
                effort="quick",
            )
            run_id = begun["run_id"]
            assert begun["status"] == "needs_revision"
            with anyio.fail_after(60):
                async with await anyio.open_process(
                    [
                        sys.executable,
                        "-m",
                        "sifaka_mcp.cli",
                        "history",
                        run_id,
                        "--follow",
                        "--json",
                    ],
                    env=environment(tmp_path, SIFAKA_STORE=redis.url),
                    stderr=None,
                ) as follower:
                    assert follower.stdout is not None
                    lines = LineReader(follower.stdout)
                    past = [await lines.next()]
                    while past[-1]["entry"] != "stopped":
                        past.append(await lines.next())
                    ended = await call(
                        second,
                        "submit_revision",
                        run_id=run_id,
                        parent_id=begun["brief"]["parent_id"],
                        text="You may return the order within 30 days.",
                    )
                    live = [await lines.next()]
                    while live[-1]["status"] != "done":
                        live.append(await lines.next())
                    assert await follower.wait() == 0
            told = [
                await call(client, "get_thought_history", run_id=run_id, include_text=True)
                for client in (first, second)
            ]

    assert [line["status"] for line in past][-1] == "needs_revision"
    entries = ["drafted", "validated", "critiqued", "decided", "stopped"]
    assert [line["entry"] for line in live] == entries
    assert (ended["status"], ended["accepted"], ended["degraded"]) == ("done", True, [])
    assert told[0] == told[1]
    assert [t["text"] for t in told[0]["thoughts"]][-1].startswith("You may")
    assert ended["unchanged"]


async def test_a_server_answers_a_client_before_it_looks_after_its_store(tmp_path: Path) -> None:
    looked = anyio.Event()

    class Watched(PassingStore):
        async def catch_up(self) -> int:
            looked.set()
            return 0

    class Opening(Settings):
        def open_store(self) -> ThoughtStore:
            return Watched(MemoryStorage())

    async with Lifespan(Opening(home=tmp_path), warm_up=lambda: None)(None) as state:
        await anyio.wait_all_tasks_blocked()
        assert not looked.is_set()
        state.warm_up()
        with anyio.fail_after(60):
            await looked.wait()


class LineReader:
    """The lines of a process's output, as JSON."""

    def __init__(self, stream: anyio.abc.ByteReceiveStream) -> None:
        self._stream = stream
        self._rest = b""

    async def next(self) -> dict[str, Any]:
        while b"\n" not in self._rest:
            self._rest += await self._stream.receive()
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)


async def caught_up(store: ThoughtStore) -> None:
    """Return when nothing waits any more; a store that was away is asked again after a while."""
    for _ in range(1000):
        if not await store.catch_up() and not store.degraded:
            return
        await anyio.sleep(0.05)


class Interrupted:
    """A model during whose calls something happens to the store."""

    name = "scripted"

    def __init__(self, *happenings: Any) -> None:
        self._happenings = iter(happenings)

    async def generate_with_thought(self, thought: Thought) -> Generation:
        happening = next(self._happenings)
        if happening is not None:
            await anyio.to_thread.run_sync(happening)
        return Generation(text=thought.text.rpartition(" ")[0], prompt_used="")


@pytest.mark.servers
async def test_a_run_goes_on_while_its_redis_is_away_and_all_of_it_is_there_in_the_end(
    tmp_path: Path, redis: RedisServer
) -> None:
    store = open_store(redis.url, home=tmp_path)
    model = Interrupted(None, redis.kill, None, redis.start, None)
    chain = Chain(
        model=model,
        validators=[{"type": "length", "max_words": 1}],
        critics=[],
        max_iterations=5,
        store=store,
    )

    result = await chain.run(text="a b c d e f")

    assert (result.text, result.status) == ("a", "done")
    with anyio.fail_after(30):
        await caught_up(store)
        await store.aclose()
        elsewhere = open_store(redis.url, home=tmp_path / "elsewhere")
        stored = await elsewhere.load(result.run_id)
        await elsewhere.aclose()
    assert stored == result.run


@pytest.mark.servers
async def test_a_run_that_ends_while_its_redis_is_away_says_so_and_waits_on_disk(
    tmp_path: Path, redis: RedisServer
) -> None:
    store = open_store(redis.url, home=tmp_path)
    chain = Chain(
        model=Interrupted(None, redis.kill, None, None, None),
        validators=[{"type": "length", "max_words": 1}],
        critics=[],
        max_iterations=5,
        store=store,
    )

    result = await chain.run(text="a b c d e f")
    await store.aclose()

    assert (result.text, result.status) == ("a", "done")
    (line,) = result.degraded
    assert str(redis.port) in line
    doctor = await anyio.run_process(
        [sys.executable, "-m", "sifaka_mcp.cli", "doctor"],
        env=environment(tmp_path, SIFAKA_STORE=redis.url),
        check=False,
    )
    assert doctor.returncode == 1
    assert f"FAIL  store: redis://127.0.0.1:{redis.port}" in doctor.stdout.decode()

    redis.start()
    later = open_store(redis.url, home=tmp_path)  # another process, the same folder
    with anyio.fail_after(30):
        await caught_up(later)
        assert await later.load(result.run_id) == result.run
        assert later.degraded == ()
    await later.aclose()
