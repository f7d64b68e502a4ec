"""What a store does in the background does not take the server down when it fails."""

from pathlib import Path

import anyio
import pytest
from mcp import Client

from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio


class WithABug(PassingStore):
    """Raises what no store should when it is to catch up."""

    def __init__(self, inner: ThoughtStore, tried: anyio.Event) -> None:
        super().__init__(inner)
        self._tried = tried

    async def catch_up(self) -> int:
        self._tried.set()
        raise RuntimeError("deadlock detected")


async def test_a_bug_in_catching_up_leaves_the_server_answering(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tried = anyio.Event()

    class Configured(Settings):
        def open_store(self) -> ThoughtStore:
            return WithABug(super().open_store(), tried)

    async with Client(SifakaServer(Configured(home=tmp_path))) as client:
        with anyio.fail_after(20):
            await client.list_tools()
            await tried.wait()
            await anyio.wait_all_tasks_blocked()
            listed = await client.call_tool("get_thought_history", {})
    assert not listed.is_error
    assert "store failed" in caplog.text
