"""Every exchange of tool calls that the documents show happens like that on a real server."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import TOOLSETS, Settings
from tests.docs.expected import Names
from tests.docs.markdown import RUN, Block, blocks

pytestmark = pytest.mark.anyio

WITH_CALLS = tuple(document for document in RUN if blocks(document, "tool-calls"))


@pytest.mark.parametrize("document", WITH_CALLS)
async def test_the_tool_calls_are_answered_as_shown(document: str, tmp_path: Path) -> None:
    names = Names()
    async with Client(SifakaServer(Settings(home=tmp_path, toolsets=tuple(TOOLSETS)))) as client:
        for block in blocks(document, "tool-calls"):
            for tool, arguments, shown in _calls(block):
                result = await client.call_tool(tool, json.loads(names.put_into(arguments)))
                assert not result.is_error, result.content
                names.check_json(json.loads(shown), result.structured_content)


def test_the_readme_and_the_tutorial_show_tool_calls() -> None:
    assert {"README.md", "docs/tutorial.md"} <= set(WITH_CALLS)


def _calls(block: Block) -> Iterator[tuple[str, str, str]]:
    """Tool, arguments and answer of each call: `> tool {...}`, then `< {...}`."""
    pattern = r"^> (\w+) (\{.*?)^< (\{.*?)(?=^> |\Z)"
    found = re.findall(pattern, block.content, re.DOTALL | re.MULTILINE)
    assert len(found) == block.content.count("\n< ")
    yield from found
