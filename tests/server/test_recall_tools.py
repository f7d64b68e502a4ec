"""Past runs through the tools: tags, filters of a search, lessons for the next run."""

import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call, refusal
from tests.stubs.runs import catch_up, keep
from tests.stubs.sampling_client import text_of
from tests.stubs.servers import stdio_server
from tests.stubs.static_models import needs_the_packaged_model

pytestmark = pytest.mark.anyio
RULE = {"type": "content", "required": ["30 days"]}


async def passed(client: Client, text: str, **arguments: Any) -> dict[str, Any]:
    """A run whose version the caller has written, and so judged."""
    rule = {"type": "content", "required": [text]}
    waiting = await call(
        client, "improve_text", text="A zebra.", validators=[rule], effort="quick", **arguments
    )
    ids = {"run_id": waiting["run_id"], "parent_id": waiting["brief"]["parent_id"]}
    return await call(client, "submit_revision", **ids, text=text)


async def runs_found(client: Client, query: str) -> set[str]:
    return {
        hit["run_id"] for hit in (await call(client, "get_thought_history", query=query))["hits"]
    }


async def test_a_search_is_narrowed_by_tags_time_and_passing(client: Client) -> None:
    plain = await passed(client, text="The zebra sleeps.")
    tagged = await call(
        client, "improve_text", text="The zebra eats.", tags=["legal"], validators=[RULE]
    )

    assert plain["passed"]
    assert not tagged["passed"]
    both = {plain["run_id"], tagged["run_id"]}
    assert await runs_found(client, "zebra") == both
    assert await runs_found(client, "zebra tag:legal") == {tagged["run_id"]}
    assert await runs_found(client, "zebra passed:true") == {plain["run_id"]}
    assert await runs_found(client, "zebra since:1h") == both
    assert await runs_found(client, "zebra until:2020-01-01") == set()


async def test_filters_alone_list_the_runs_that_they_let_through(client: Client) -> None:
    await call(client, "improve_text", text="The zebra sleeps.")
    one = await passed(client, text="The zebra eats.", tags=["legal", "eu"])
    two = await call(client, "improve_text", text="It runs.", tags=["legal"], validators=[RULE])

    async def listed(query: str, **arguments: Any) -> list[str]:
        found = await call(client, "get_thought_history", query=query, **arguments)
        return [run["run_id"] for run in found["runs"]]

    assert await listed("tag:legal") == [two["run_id"], one["run_id"]]
    assert await listed("tag:legal", limit=1) == [two["run_id"]]
    assert await listed("tag:legal tag:eu") == [one["run_id"]]
    assert await listed("tag:legal passed:true") == [one["run_id"]]
    assert await listed("tag:other") == []
    assert await listed("until:2020-01-01") == []
    assert len(await listed("since:1h")) == 3


async def test_the_history_of_a_run_with_nothing_to_say_is_short(client: Client) -> None:
    run = await call(client, "improve_text", text="This is fine.")
    text = text_of(await client.call_tool("get_thought_history", {"run_id": run["run_id"]}))
    lines = text.splitlines()
    assert len([line for line in lines if line]) <= 3
    assert "first version" not in text
    assert text.count(run["run_id"]) == 2


@needs_the_packaged_model
@pytest.mark.slow
async def test_over_stdio_the_packaged_model_finds_a_run_in_other_words(tmp_path: Path) -> None:
    async with aclosing(Settings(home=tmp_path).open_store()) as store:
        await keep(store, "Bake the bread slowly.")
        lift = await keep(store, "The lift is broken.")
        await catch_up(store)
    async with Client(stdio_server(tmp_path, SIFAKA_EMBEDDING_MODEL="wordllama")) as client:
        found = await call(client, "get_thought_history", query="elevator out of order")
    assert (found["search"], found["hits"][0]["run_id"]) == ("hybrid", lift.run_id)


async def test_the_brief_of_the_next_run_has_the_lessons_of_a_similar_one(client: Client) -> None:
    first = await call(client, "improve_text", text="You may return the order.", validators=[RULE])
    turned_down = await call(
        client,
        "submit_revision",
        run_id=first["run_id"],
        parent_id=first["brief"]["parent_id"],
        text="You may return the order within 90 days.",
    )
    assert not turned_down["accepted"]

    again = await call(
        client, "improve_text", text="You may return an order.", validators=[RULE], remember=3
    )

    (lesson,) = again["brief"]["lessons"]
    assert turned_down["reason"] in lesson
    without = await call(client, "improve_text", text="You may return orders.", validators=[RULE])
    assert without["brief"]["lessons"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        (
            "improve_text",
            {"text": "x", "tags": ["two words"]},
            "tags[0]: should be 1 to 64 letters, digits or characters of _ . / @ -",
        ),
        ("get_thought_history", {"query": "x tag:a,b"}, "1 to 64 letters"),
        ("improve_text", {"text": "x", "remember": 21}, "remember"),
        ("get_thought_history", {"query": "x passed:perhaps"}, "passed:perhaps"),
    ],
)
async def test_what_cannot_be_meant_is_refused_in_one_line(
    client: Client, tool: str, arguments: dict[str, Any], told: str
) -> None:
    text = await refusal(client, tool, **arguments)

    assert told in text
    assert "\n" not in text
    assert (await call(client, "get_thought_history"))["runs"] == []


async def test_a_server_starts_without_its_store_and_says_so(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, store="redis://127.0.0.1:1/0")
    async with Client(SifakaServer(settings)) as client:
        checked = await call(client, "validate_text", text="x", validators=[RULE])
        assert not checked["passed"]

        listed = await call(client, "get_thought_history")
        told = await refusal(client, "get_thought_history", run_id="run_0")
        kept = await call(client, "improve_text", text="This is the the text.", model="editor")

    assert listed["runs"] == []
    assert "127.0.0.1:1" in listed["degraded"][0]
    assert "127.0.0.1:1" in told
    assert (kept["status"], kept["text"]) == ("done", "This is the text.")
    assert "queued on disk" in kept["degraded"][0]


@pytest.mark.slow
def test_the_default_server_loads_no_database_that_it_does_not_use(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import anyio
from mcp import Client
from mcp_types import TextContent
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings

async def work():
    settings = Settings(home=Path(sys.argv[1]), embedding_model=None)
    async with Client(SifakaServer(settings)) as client:
        for tool, arguments in (
            ("improve_text", {"text": "The the text.", "remember": 1}),
            ("get_thought_history", {"query": "text"}),
        ):
            assert not (await client.call_tool(tool, arguments)).is_error

anyio.run(work)
heavy = {"pymilvus", "redis", "numpy", "httpx", "sqlite_vec", "milvus_lite", "pydantic_ai"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "[]\n"
