"""The contracts of logs and of indexes; each kind is a line in a table."""

from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sifaka.storage.protocol import SearchIndex, ThoughtStore
from tests.storage_contract.index_kinds import INDEXES, Index
from tests.storage_contract.log_kinds import LOGS, Log

SERVERS = frozenset(
    {"redis_mcp", "milvus_server", "milvus_2_3", "milvus_mcp", "elasticsearch_noida"}
)
SLOW = frozenset({"cached_redis", "cached_without_queue", "milvus_lite"})
"""Kinds that take long for a long test, which then runs with the slow servers."""


def kinds(table: Mapping[str, object]) -> list[Any]:
    return [
        pytest.param(name, marks=pytest.mark.servers) if name in SERVERS else name for name in table
    ]


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


@pytest.fixture(params=kinds(LOGS))
def kind(request: pytest.FixtureRequest) -> Log:
    return LOGS[request.param]


@pytest.fixture
def make_log(kind: Log, tmp_path: Path) -> Callable[[], ThoughtStore]:
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


@pytest.fixture(params=kinds(INDEXES))
def index_kind(request: pytest.FixtureRequest) -> Index:
    return INDEXES[request.param]


@pytest.fixture
async def index(index_kind: Index, tmp_path: Path) -> AsyncGenerator[SearchIndex]:
    index = index_kind.make(tmp_path / "index", None)
    yield index
    await index.aclose()
