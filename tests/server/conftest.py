from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest
from mcp import Client

from tests.stubs.provider import Gate
from tests.stubs.servers import Era, connected


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


@pytest.fixture
async def client(era: Era, tmp_path: Path) -> AsyncIterator[Client]:
    """A client of a server in this process, in each protocol era."""
    async with connected("memory", era, tmp_path) as client:
        yield client


@pytest.fixture
def gate() -> Generator[Gate]:
    """Where a provider's answers wait for the test, but not for longer than it takes."""
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture(autouse=True)
def config(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own folder of configuration, with nothing in it."""
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder / "sifaka"
