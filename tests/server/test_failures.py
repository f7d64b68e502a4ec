"""Errors where the SDK would send their words, and in the background, as clients learn of them."""

from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, Prompt

from sifaka.errors import StorageError
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.servers import Era
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio


SECRET = "words of a text"


class Broken(SifakaServer):
    """A server with a bug."""

    async def list_prompts(self) -> list[Prompt]:
        raise RuntimeError(SECRET)


class Stuck(SifakaServer):
    """A server whose store is away."""

    async def list_prompts(self) -> list[Prompt]:
        raise StorageError("the store is away", "bring it back")


async def refusal(server: SifakaServer, era: Era) -> str:
    async with Client(server, mode=era) as client:
        with pytest.raises(MCPError) as refused:
            await client.list_prompts()
        assert (await client.list_tools()).tools, "it goes on"
    assert refused.value.error.code == INTERNAL_ERROR
    return refused.value.error.message


async def test_a_bug_keeps_silent(
    tmp_path: Path, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    assert await refusal(Broken(Settings(home=tmp_path)), era) == "Internal error"
    (record,) = (r for r in caplog.records if r.name == "sifaka_mcp.failures")
    assert record.getMessage() == "prompts/list failed: RuntimeError"
    assert SECRET not in caplog.text


async def test_an_expected_error_says_what_it_is(tmp_path: Path, era: Era) -> None:
    told = await refusal(Stuck(Settings(home=tmp_path)), era)
    assert told == "the store is away — bring it back"


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
