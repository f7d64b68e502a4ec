"""Write what is derived from the code anew: `make snapshots`."""

import json
from pathlib import Path

from mcp_types import Tool as ListedTool

import sifaka_mcp.tools
from sifaka_mcp.settings import TOOLSETS, Settings
from sifaka_mcp.tools import tools
from sifaka_mcp.tools.definition import BoundedTool
from sifaka_mcp.ui.apps import CHOICE
from tests.snapshots import rules
from tests.snapshots.prompts import PAGE, put_into
from tests.snapshots.schemas import of_arguments, of_result

LISTED = Path(sifaka_mcp.tools.__file__).parent / "listed"
"""The files from which a server lists its tools."""


def listings() -> dict[str, str]:
    """The text of each of these files, made of the tools themselves."""
    names = {*Settings(toolsets=tuple(TOOLSETS)).tools, CHOICE}
    return {f"{tool.name}.json": _text(with_schemas(tool)) for tool in tools(names)}


def with_schemas(tool: BoundedTool) -> ListedTool:
    """One of our tools as a client sees it."""
    schemas = {
        "input_schema": of_arguments(tool.arguments),
        "output_schema": of_result(tool.result),
    }
    return tool.listed.model_copy(update=schemas)


def _text(tool: ListedTool) -> str:
    data = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, text in listings().items():
        (LISTED / name).write_text(text, encoding="utf-8")
    PAGE.write_text(put_into(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    rules.PAGE.write_text(rules.rendered(), encoding="utf-8")
