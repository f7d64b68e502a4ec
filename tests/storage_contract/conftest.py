"""The contract of stores, held by every kind of them: a line each, and a module in `kinds`."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore

KINDS = (
    "memory",
    "sqlite",
    "sqlite_hybrid",
    "file",
    "redis",
    "milvus_lite",
    pytest.param("milvus_server", marks=pytest.mark.servers),
    pytest.param("milvus_2_3", marks=pytest.mark.servers),
    "milvus_url",
    "elasticsearch",
    "elasticsearch_url",
    "tiers",
    "tiers_redis",
    "tiers_without_queue",
    "hybrid",
    pytest.param("redis_mcp", marks=pytest.mark.servers),
    pytest.param("milvus_mcp", marks=pytest.mark.servers),
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


SLOW = frozenset({"elasticsearch", "milvus_lite", "tiers_redis", "tiers_without_queue"})
"""Kinds that take long for a long test, which then runs with the slow servers."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes long with slow kinds of stores")
    config.addinivalue_line(
        "markers", "promise(name): what the test asks for, which some kinds of stores do not keep"
    )


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("long") is not None:
            params: dict[str, object] = getattr(item, "callspec").params  # noqa: B009 - untyped
            if params.get("kind") in SLOW:
                item.add_marker(pytest.mark.servers)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    """The module of one kind of store."""
    module = import_module(f"tests.storage_contract.kinds.{request.param}")
    for mark in request.node.iter_markers("promise"):
        if mark.args[0] in getattr(module, "LACKS", ()):
            pytest.skip(f"{request.param} does not promise {mark.args[0]}")
    return module


@pytest.fixture
def make_store(kind: Any, tmp_path: Path) -> Callable[[], ThoughtStore]:
    """Makes stores of one kind, each empty."""
    count = iter(range(100))

    def make() -> ThoughtStore:
        return kind.make(tmp_path / f"store{next(count)}")

    return make


@pytest.fixture
async def store(make_store: Callable[[], ThoughtStore]) -> AsyncGenerator[ThoughtStore]:
    store = make_store()
    yield store
    await store.aclose()


@pytest.fixture
def keep() -> Callable[..., Awaitable[Run]]:
    """Stores a run of some texts, in one append."""

    async def keep(
        store: ThoughtStore, *texts: str, prompt: str = "", tags: tuple[str, ...] = ()
    ) -> Run:
        started = Started(prompt=prompt, tags=tags)
        run = Run.start(started)
        entries: list[Entry] = [started]
        for text in texts:
            parent = run.latest
            thought = (
                parent.next_iteration().with_text(text)
                if parent
                else Thought(run_id=run.run_id, prompt=prompt, text=text)
            )
            entries.append(Drafted(thought=thought))
            run = run.apply(entries[-1])
        await store.append(run, entries, expected_version=0)
        return run

    return keep
