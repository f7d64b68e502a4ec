"""The contracts of logs and of indexes; each kind has a module in `logs` or `indexes`."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sifaka.record.run import Run
from sifaka.storage.protocol import SearchIndex, ThoughtStore
from tests.storage_contract.runs import entries_of, made

LOGS = (
    "memory",
    "sqlite",
    "file",
    "redis",
    "hybrid",
    "cached",
    "cached_redis",
    "cached_without_queue",
    pytest.param("redis_mcp", marks=pytest.mark.servers),
)
INDEXES = (
    "sqlite",
    "sqlite_hybrid",
    "scan",
    "scan_redis",
    "hybrid_memory",
    "cached",
    "milvus_lite",
    pytest.param("milvus_server", marks=pytest.mark.servers),
    pytest.param("milvus_2_3", marks=pytest.mark.servers),
    "milvus_url",
    "elasticsearch",
    "elasticsearch_url",
    pytest.param("milvus_mcp", marks=pytest.mark.servers),
)


SLOW = frozenset({"cached_redis", "cached_without_queue", "milvus_lite"})
"""Kinds that take long for a long test, which then runs with the slow servers."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long(*kinds): takes long with slow kinds, and these")


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        long = item.get_closest_marker("long")
        if long is not None:
            params: dict[str, object] = getattr(item, "callspec").params  # noqa: B009 - untyped
            if params.get("kind") in {*SLOW, *long.args}:
                item.add_marker(pytest.mark.servers)


@pytest.fixture(params=LOGS)
def kind(request: pytest.FixtureRequest) -> Any:
    """The module of one kind of log."""
    return import_module(f"tests.storage_contract.logs.{request.param}")


@pytest.fixture
def make_log(kind: Any, tmp_path: Path) -> Callable[[], ThoughtStore]:
    """Makes logs of one kind, each empty."""
    count = iter(range(100))

    def make() -> ThoughtStore:
        return kind.make(tmp_path / f"log{next(count)}")

    return make


@pytest.fixture
async def log(make_log: Callable[[], ThoughtStore]) -> AsyncGenerator[ThoughtStore]:
    log = make_log()
    yield log
    await log.aclose()


@pytest.fixture(params=INDEXES)
def index_kind(request: pytest.FixtureRequest) -> Any:
    """The module of one kind of index."""
    return import_module(f"tests.storage_contract.indexes.{request.param}")


@pytest.fixture
async def index(index_kind: Any, tmp_path: Path) -> AsyncGenerator[SearchIndex]:
    index: SearchIndex = index_kind.make(tmp_path / "index")
    yield index
    await index.aclose()


@pytest.fixture
def keep() -> Callable[..., Awaitable[Run]]:
    """Appends a run of some texts, at once."""

    async def keep(log: ThoughtStore, *texts: str, prompt: str = "") -> Run:
        run = made(*texts, prompt=prompt)
        entries = entries_of(run)
        run = Run.replay(entries)
        await log.append(run, entries, expected_version=0)
        return run

    return keep
