"""The tools, in the order in which they are listed."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from types import MappingProxyType

from mcp.server.mcpserver.tools import Tool
from mcp_types import Tool as ListedTool

_FACTORIES: Mapping[str, str] = MappingProxyType(
    {
        "improve_text": "improve.tool",
        "submit_revision": "submit.tool",
        "validate_text": "judge.validate_tool",
        "critique_text": "judge.critique_tool",
        "verify_evidence": "verify.tool",
        "search_evidence": "search_evidence.tool",
        "research": "research.tool",
        "get_thought_history": "history.tool",
        "resume_run": "steer.resume_tool",
        "cancel_run": "steer.cancel_tool",
        "choose_version": "choose.tool",
    }
)
"""The module and the function that build each tool. A server imports those that it offers."""


def tools(names: Iterable[str]) -> list[Tool]:
    """The tools of these names, which imports what they work with."""
    wanted = set(names)
    return [_built(place) for name, place in _FACTORIES.items() if name in wanted]


def listed_tools(names: Iterable[str]) -> list[ListedTool]:
    """The tools of these names as a client sees them, read from the files of `make snapshots`."""
    wanted, folder = set(names), files(__name__) / "listed"
    return [
        ListedTool.model_validate_json((folder / f"{name}.json").read_bytes())
        for name in _FACTORIES
        if name in wanted
    ]


@cache
def _built(place: str) -> Tool:
    module, _, function = place.partition(".")
    return getattr(import_module(f"{__name__}.{module}"), function)()
