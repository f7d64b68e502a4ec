"""The tools, in the order in which they are listed."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType

from mcp.server.mcpserver.tools import Tool

_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "improve_text": "improve",
        "submit_revision": "submit",
        "validate_text": "validate",
        "critique_text": "critique",
        "verify_evidence": "verify",
        "research": "research",
        "get_thought_history": "history",
        "resume_run": "resume",
        "cancel_run": "cancel",
    }
)
"""The module of each tool. A server imports those that it offers: a host waits for them."""


def tools(names: Iterable[str]) -> list[Tool]:
    """The tools of these names, newly built."""
    wanted = set(names)
    return [
        import_module(f"{__name__}.{module}").tool()
        for name, module in _MODULES.items()
        if name in wanted
    ]
