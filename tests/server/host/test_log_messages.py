"""`logging/setLevel`, and the warnings that a host is sent after it."""

from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import LoggingLevel, LoggingMessageNotificationParams

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.sampling_client import data
from tests.stubs.served import served

pytestmark = pytest.mark.anyio

ARGUMENTS = {"text": "A text.", "prompt": "write", "model": "editor"}
"""The editor follows no task, which is told as degraded."""


@pytest.mark.parametrize(("level", "told"), [(None, 0), ("warning", 1), ("info", 1), ("error", 0)])
async def test_a_host_is_sent_warnings_after_it_has_set_a_level_for_them(
    tmp_path: Path, level: LoggingLevel | None, told: int
) -> None:
    messages: list[LoggingMessageNotificationParams] = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        messages.append(params)

    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, mode="legacy", logging_callback=hear) as client:
        assert client.server_capabilities is not None
        assert client.server_capabilities.logging is not None
        if level is not None:
            with pytest.warns(MCPDeprecationWarning):
                await client.set_logging_level(level)  # pyright: ignore[reportDeprecated]
        out = data(await client.call_tool("improve_text", ARGUMENTS))
    assert len(out["degraded"]) == 1
    assert [message.data for message in messages] == out["degraded"][:told]
    assert {message.level for message in messages} <= {"warning"}


async def test_over_http_the_level_is_taken_and_nothing_is_sent(tmp_path: Path) -> None:
    messages: list[LoggingMessageNotificationParams] = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        messages.append(params)

    with served(tmp_path) as url:
        async with Client(url, mode="legacy", logging_callback=hear) as client:
            with pytest.warns(MCPDeprecationWarning):
                await client.set_logging_level("debug")  # pyright: ignore[reportDeprecated]
            out = data(await client.call_tool("improve_text", ARGUMENTS))
    assert out["degraded"]
    assert messages == []
