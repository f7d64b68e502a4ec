from collections.abc import AsyncGenerator, Generator
from uuid import uuid4

import pytest

from sifaka.storage.redis import RedisStorage
from tests.stubs.redis_server import RedisServer, redis_server, shared_redis


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
