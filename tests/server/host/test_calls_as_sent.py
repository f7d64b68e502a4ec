"""Calls in the shapes in which hosts send them, each with where that shape is told of."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import TextContent

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from sifaka_mcp.tools.definition import as_meant

pytestmark = pytest.mark.anyio

CALLS = [
    json.loads(line)
    for line in Path(__file__).with_name("calls_as_sent.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("sent", CALLS, ids=lambda sent: f"{sent['client']}-{sent['tool']}")
async def test_it_is_understood_and_what_a_host_adds_is_named(sent: dict[str, Any]) -> None:
    async with Client(SifakaServer(Settings(store="memory:"))) as client:
        result = await client.call_tool(sent["tool"], sent["arguments"])
    words = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    assert not result.is_error, words
    data: dict[str, Any] = result.structured_content or {}
    named = [line for line in data.get("degraded", ()) if "no such arguments" in line]
    if not sent["ignored"]:
        assert "no such arguments" not in words
        assert named == []
    for name in sent["ignored"]:
        assert f"'{name}'" in words.splitlines()[-1]
        assert "degraded" not in data or f"'{name}'" in named[0]


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["find"],
    "properties": {
        "find": {"type": "string"},
        "many": {"type": "array", "items": {"type": "string"}},
        "each": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "array", "items": {}}}},
        },
        "free": {"type": "object"},
        "count": {"type": "integer"},
    },
}


READ: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"find": "", "many": ""}, {"find": ""}),
    ({"find": "[1]"}, {"find": "[1]"}),
    ({"find": "null", "many": "null", "count": "null"}, {"find": "null"}),
    ({"many": "one"}, {"many": ["one"]}),
    ({"many": '["one", "two"]'}, {"many": ["one", "two"]}),
    ({"many": "true"}, {"many": "true"}),
    ({"each": ['{"n": "[1, 2]"}']}, {"each": [{"n": [1, 2]}]}),
    ({"each": '[{"n": null}]'}, {"each": [{}]}),
    ({"each": "no json"}, {"each": "no json"}),
    ({"each": "[" * 100_000}, {"each": "[" * 100_000}),
    ({"free": {"a": None, "b": "", "c": [None]}}, {"free": {"c": [None]}}),
    ({"count": 0, "free": '{"d": 1}'}, {"count": 0, "free": {"d": 1}}),
]


@pytest.mark.parametrize(("sent", "meant"), READ)
def test_each_level_is_read_by_its_schema(sent: dict[str, Any], meant: dict[str, Any]) -> None:
    assert as_meant(sent, SCHEMA) == meant
