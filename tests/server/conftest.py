from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client

from tests.stubs.servers import Era, connected


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


@pytest.fixture
async def client(era: Era, tmp_path: Path) -> AsyncIterator[Client]:
    """A client of a server in this process, in each protocol era."""
    async with connected("memory", era, tmp_path) as client:
        yield client
