"""The tools, in the order in which they are listed."""

import json
from collections.abc import Collection, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mcp_types import Tool as ListedTool

if TYPE_CHECKING:
    from sifaka_mcp.tools.definition import BoundedTool

TOOLS: Mapping[str, str] = MappingProxyType(
    {
        "improve_text": "improve",
        "submit_revision": "improve",
        "validate_text": "judge",
        "critique_text": "judge",
        "verify_evidence": "evidence",
        "search_evidence": "evidence",
        "research": "research",
        "get_thought_history": "runs",
        "resume_run": "runs",
        "cancel_run": "runs",
        "choose_version": "runs",
    }
)
"""The module of each tool, in the order in which they are listed. A server imports those that it
offers."""


def tools(names: Collection[str]) -> "list[BoundedTool]":
    """The tools of these names, which imports what they work with."""
    return [tool_named(name) for name in TOOLS if name in names]


def tool_named(name: str) -> "BoundedTool":
    """A tool, which imports what it works with."""
    return getattr(import_module(f"{__name__}.{TOOLS[name]}"), name)


def listed_tools(names: Collection[str]) -> list[ListedTool]:
    """The tools of these names as a client sees them, read from the files of `make snapshots`."""
    folder = files(__name__) / "listed"
    return [
        ListedTool.model_validate_json((folder / f"{name}.json").read_bytes())
        for name in TOOLS
        if name in names
    ]


@cache
def arguments_schema(name: str) -> dict[str, Any]:
    """The schema of a tool's arguments, as it is listed."""
    return json.loads((files(__name__) / "listed" / f"{name}.json").read_bytes())["inputSchema"]
