"""`docs/long-runs.md`, and what is told of the host's model, against the numbers of the code."""

from typing import get_args

import pytest
from mcp import Client

from sifaka.calls.context import PARALLEL
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.host import sampling
from sifaka_mcp.host.sampling import LIFETIME, MOST_ROUNDS
from sifaka_mcp.host.session import TASKS
from sifaka_mcp.notify import subscriptions
from sifaka_mcp.notify.subscriptions import MOST_STREAMS
from sifaka_mcp.runs import followers
from sifaka_mcp.settings import MOST_RUNS, Settings
from sifaka_mcp.tasks import POLL_INTERVAL, TasksExtension, TaskStatus
from sifaka_mcp.tools.awaited_run import PATIENCE
from tests.docs.markdown import code, section, table

pytestmark = pytest.mark.anyio

DOCUMENT = "docs/long-runs.md"


def words(heading: str, document: str = DOCUMENT) -> str:
    """What stands under a heading, without its line breaks."""
    return " ".join(section(document, heading).split())


async def test_how_long_a_tool_waits_is_told() -> None:
    async with Client(SifakaServer(Settings(store="memory:"))) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for name in ("improve_text", "resume_run"):
        default = tools[name].input_schema["properties"]["wait_seconds"]["default"]
        assert f"`wait_seconds`, {default} by default" in words("Waiting")
    called = [code(row[0])[0] for row in table(section(DOCUMENT, "Waiting"))]
    assert set(called) <= set(tools)


def test_every_request_and_status_of_tasks_is_told() -> None:
    text = section(DOCUMENT, "As tasks")
    requests = [code(row[0])[0] for row in table(text)]
    assert set(requests) == {binding.method for binding in TasksExtension().methods()}
    statuses = table(text[text.index("| Status |") :])
    assert {code(row[0])[0] for row in statuses} == set(get_args(TaskStatus))
    told = words("As tasks")
    assert f"`{TASKS}`" in told
    assert f"waited for {PATIENCE:g} seconds at most" in told
    assert f"`pollIntervalMs` is {POLL_INTERVAL}" in told
    assert set(code(told)) >= TasksExtension.TOOLS


def test_the_limits_are_those_of_the_code() -> None:
    being_told = words("Notifications")
    assert f"At most {subscriptions.MOST} subscriptions" in being_told
    assert f"{MOST_STREAMS:,} streams and {followers.MOST} runs" in being_told
    assert f"works on {MOST_RUNS} runs" in words("How many")
    assert f"At most {PARALLEL} calls" in words("How many")
    default = Settings().takeover_seconds
    assert f"`SIFAKA_TAKEOVER_SECONDS` ({default:g})" in words("Takeover")


def test_how_long_a_host_is_waited_for_is_told() -> None:
    host = words("The host's model", "docs/chain.md")
    assert f"does not come back within {LIFETIME / 60:g} minutes" in host
    assert f"waits {sampling.PATIENCE / 60:g} minutes for each answer" in host
    assert f"come back {MOST_ROUNDS} times for one call" in host
    assert f"for {LIFETIME / 60:g} minutes; then it goes on without" in words("Takeover")
    cost = words("What it may cost", "docs/privacy.md")
    assert f"at most {MOST_ROUNDS} rounds of one call" in cost
