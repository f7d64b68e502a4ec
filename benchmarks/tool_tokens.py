"""The tokens that the default tools cost a model at every turn."""

import json
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from benchmarks.report import Figure, Report
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings

CHARACTERS_PER_TOKEN = 4
"""The usual estimate. Calibrated once on these very schemas against the vocabularies o200k_base and
cl100k_base: 4.15 and 4.40 over all tools, never under 4.08 in one. So it errs upwards."""
SHOWN = ("name", "title", "description", "inputSchema")
SMALLEST_PART = 40
"""Tokens; smaller parts are not listed."""


def measure() -> Report:
    """The listed tools, in tokens: what a model is shown, and all that a host receives."""
    tools = anyio.run(_listed)
    shown = {tool["name"]: {key: tool[key] for key in SHOWN} for tool in tools}
    total = sum(_tokens(tool) for tool in shown.values())
    everything = sum(_tokens(tool) for tool in tools)
    return Report(
        title="tool_tokens: the schemas of the default tools",
        method="tools/list as a client receives it, as compact JSON, one object a tool. A model is "
        f"shown {', '.join(SHOWN)}; a host also receives outputSchema, annotations and title. "
        f"Tokens are characters / {CHARACTERS_PER_TOKEN}, which needs no vocabulary; the true "
        "count by o200k_base is about 4 % lower, by cl100k_base 9 %. Below each tool its parts of "
        f"{SMALLEST_PART} tokens or more.",
        figures=(
            Figure(what="shown to a model", value=total, unit="tokens", most=2400),
            Figure(what="received by a host", value=everything, unit="tokens"),
            *chain.from_iterable(_figures(tool) for tool in shown.values()),
        ),
    )


def _figures(tool: dict[str, Any]) -> Iterator[Figure]:
    yield Figure(what=tool["name"], value=_tokens(tool), unit="tokens")
    schema = tool["inputSchema"]
    parts = {
        "description": tool["description"],
        **{f"$defs.{name}": part for name, part in schema.get("$defs", {}).items()},
        **schema["properties"],
    }
    for name, part in sorted(parts.items(), key=lambda item: -_tokens(item[1])):
        if _tokens(part) >= SMALLEST_PART:
            yield Figure(what=f"    {name}", value=_tokens(part), unit="tokens")


async def _listed() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as home:
        async with Client(SifakaServer(Settings(home=Path(home)))) as client:
            listed = await client.list_tools()
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]


def _tokens(part: object) -> int:
    compact = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    return round(len(compact) / CHARACTERS_PER_TOKEN)
