"""The calls that are compared: validating a text, and handing the same text back."""

from collections.abc import Mapping
from time import perf_counter
from types import MappingProxyType

from mcp import Client

from benchmarks.samples import prose

TEXT = prose(300)
RULES = [
    {"type": "length", "min_words": 100, "max_words": 400},
    {"type": "content", "required": ["Harbor"], "prohibited": ["world-class", "unthinkable"]},
]
ECHO: Mapping[str, object] = MappingProxyType({"text": TEXT})
VALIDATE: Mapping[str, object] = MappingProxyType({"text": TEXT, "validators": RULES})


async def seconds_of(client: Client, tool: str, arguments: Mapping[str, object]) -> float:
    """The time of one call."""
    started = perf_counter()
    result = await client.call_tool(tool, dict(arguments))
    taken = perf_counter() - started
    assert not result.is_error, result.content
    return taken
