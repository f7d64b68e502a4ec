"""Errors where the SDK would send their words, as clients learn of them."""

from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, Prompt

from sifaka.errors import StorageError
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.servers import Era

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
