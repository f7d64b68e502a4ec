"""The same over stdio and HTTP, in both eras; a server that is killed; a second server."""

import signal
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.stubs.served import served
from tests.stubs.servers import Era, Transport, connected, http_server, stdio_server

pytestmark = pytest.mark.anyio

TEXT = Path("server/sifaka_mcp/cli/announcement.md").read_text(encoding="utf-8")
RULES = [
    {"type": "length", "max_words": 300},
    {"type": "content", "prohibited": [{"term": "world-class", "replacement": "reliable"}]},
]


async def improve(client: Client) -> dict[str, Any]:
    result = await client.call_tool(
        "improve_text", {"text": TEXT, "validators": RULES, "model": "editor"}
    )
    assert not result.is_error
    assert result.structured_content is not None
    return result.structured_content


def comparable(out: dict[str, Any]) -> dict[str, Any]:
    """What must be the same wherever the text was improved."""
    names = ("status", "text", "changed", "passed", "stop_reason", "iterations", "diff", "issues")
    return {name: out[name] for name in names}


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_every_transport_and_era_gives_the_same_result(
    transport: Transport, era: Era, tmp_path: Path
) -> None:
    async with connected("memory", "auto", tmp_path / "here") as client:
        expected = comparable(await improve(client))
    async with connected(transport, era, tmp_path) as client:
        assert comparable(await improve(client)) == expected
    assert expected["status"] == "done"
    assert expected["changed"]


async def test_a_run_is_found_after_kill_9_and_from_a_second_server(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, process):
        async with Client(url) as client:
            run_id = (await improve(client))["run_id"]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=100)
    with http_server(tmp_path) as (url, _):
        async with Client(url) as again, Client(stdio_server(tmp_path)) as second:
            for client in (again, second):
                found = await client.call_tool("get_thought_history", {"run_id": run_id})
                assert found.structured_content is not None
                assert found.structured_content["run"]["status"] == "done"
                found = await client.call_tool("get_thought_history", {"query": "announcement"})
                assert not found.is_error


@pytest.mark.servers
async def test_a_run_started_on_one_server_is_finished_on_another(tmp_path: Path) -> None:
    rules = [{"type": "content", "required": ["refund"]}]
    async with Client(stdio_server(tmp_path)) as client:
        waiting = await client.call_tool(
            "improve_text", {"text": "You get it back.", "validators": rules, "effort": "quick"}
        )
        assert waiting.structured_content is not None
    brief = waiting.structured_content["brief"]
    async with Client(stdio_server(tmp_path)) as client:
        done = await client.call_tool(
            "submit_revision",
            {
                "run_id": waiting.structured_content["run_id"],
                "parent_id": brief["parent_id"],
                "text": "You get a refund.",
            },
        )
        assert done.structured_content is not None
        assert done.structured_content["status"] == "done"


async def test_health_is_answered_and_foreign_hosts_are_not(tmp_path: Path) -> None:
    import httpx

    with served(tmp_path) as url:
        async with httpx.AsyncClient() as http:
            health = await http.get(url.replace("/mcp", "/healthz"))
            assert (health.status_code, health.json()) == (200, {"status": "ok"})
            foreign = await http.post(url, headers={"host": "evil.example"}, json={})
            assert foreign.status_code == 421


async def test_the_store_is_closed_with_the_server(tmp_path: Path) -> None:
    async with connected("memory", "auto", tmp_path) as client:
        await client.call_tool("improve_text", {"text": "A text."})
        assert (tmp_path / "sifaka.db-wal").exists()
    assert (tmp_path / "sifaka.db").exists()
    assert not (tmp_path / "sifaka.db-wal").exists(), "SQLite folds its log in when it is closed"
