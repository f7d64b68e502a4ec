"""The tools, in the order in which they are listed."""

from collections.abc import Iterable

from mcp.server.mcpserver.tools import Tool

from sifaka_mcp.tools import (
    cancel,
    critique,
    history,
    improve,
    research,
    resume,
    submit,
    validate,
    verify,
)

_TOOLS = (
    improve.tool,
    submit.tool,
    validate.tool,
    critique.tool,
    verify.tool,
    research.tool,
    history.tool,
    resume.tool,
    cancel.tool,
)


def tools(names: Iterable[str]) -> list[Tool]:
    """The tools of these names, newly built."""
    wanted = set(names)
    return [built for build in _TOOLS if (built := build()).name in wanted]
