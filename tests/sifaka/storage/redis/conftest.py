from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from typing import Any
from uuid import uuid4

import anyio
import pytest

from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.connections import RedisClient
from tests.stubs.redis_server import RedisServer, redis_server, shared_redis

Command = Callable[..., Awaitable[Any]]


@pytest.fixture
def prefix() -> str:
    """Keys that no other test uses."""
    return f"test-{uuid4().hex}"


@pytest.fixture
async def store(prefix: str) -> AsyncGenerator[RedisStorage]:
    """An empty store on the server that all tests share."""
    store = RedisStorage(shared_redis().url, prefix=prefix)
    yield store
    await store.aclose()


@pytest.fixture
def own_redis() -> Generator[RedisServer]:
    """A server that the test may kill or configure."""
    with redis_server() as server:
        yield server


@pytest.fixture
def command() -> Command:
    """Sends one command to the server of a store, as any other program would."""

    async def send(store: RedisStorage, *words: str | bytes | float) -> Any:
        async def work(client: RedisClient) -> Any:
            return await client.execute_command(*words)

        return await store.connections.run(work)

    return send


@pytest.fixture
def keep() -> Callable[..., Coroutine[Any, Any, Run]]:
    """Stores a run of some texts, in one append."""

    async def keep(store: ThoughtStore, *texts: str, **started: Any) -> Run:
        first = Started(**started)
        run = Run.start(first)
        entries: list[Entry] = [first]
        for number, text in enumerate(texts):
            thought = _version(run, number, text)
            entries.append(Drafted(thought=thought))
            run = run.apply(entries[-1])
        await store.append(run, entries, expected_version=0)
        return run

    return keep


@pytest.fixture
def draft() -> Callable[..., Coroutine[Any, Any, Run]]:
    """Appends one version to a run."""

    async def draft(store: ThoughtStore, run: Run, text: str) -> Run:
        entry = Drafted(thought=_version(run, len(run.thoughts), text))
        after = run.apply(entry)
        await store.append(after, [entry], expected_version=run.version)
        return after

    return draft


@pytest.fixture
def until() -> Callable[..., Awaitable[None]]:
    """Waits for a condition, at most 20 seconds."""

    async def until(condition: Callable[[], Awaitable[bool]]) -> None:
        for _ in range(2000):
            if await condition():
                return
            await anyio.sleep(0.01)
        pytest.fail("it never came to be")

    return until


def _version(run: Run, iteration: int, text: str) -> Thought:
    return Thought(run_id=run.run_id, iteration=iteration, text=text)
