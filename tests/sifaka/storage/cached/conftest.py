from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from sifaka.storage.cached import CachedStorage
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory, Setup


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


@pytest.fixture
async def store(setup: Setup) -> AsyncGenerator[CachedStorage]:
    store = setup.store()
    yield store
    await store.aclose()


@pytest.fixture
async def truth(setup: Setup) -> AsyncGenerator[SQLiteStorage]:
    """The authority's file, as another process has it open."""
    store = SQLiteStorage(setup.folder / "runs.db")
    yield store
    await store.aclose()


@pytest.fixture
def archive(setup: Setup) -> SearchIndexInMemory:
    """The index."""
    return setup.index
