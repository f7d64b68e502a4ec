"""The page of a run inside a host: the extension MCP Apps, revision 2026-01-26.

The page is a resource that tools name. It reads the data of a run from resources too, which no
model pays for; where a host reads none for its pages, `get_thought_history` has it in `_meta`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mcp.server.apps import APP_MIME_TYPE, client_supports_apps
from mcp.server.context import ServerRequestContext
from pydantic_core import to_jsonable_python

from sifaka.record.run import Run

URI = "ui://sifaka/run.html"
MIME_TYPE = APP_MIME_TYPE
SHOWN: Mapping[str, Any] = MappingProxyType({"ui": {"resourceUri": URI}})
"""The `_meta` of a tool that a host shows the page for."""
RESOURCE: Mapping[str, Any] = MappingProxyType({"ui": {"prefersBorder": False}})
"""The `_meta` of the page: it asks for no domain and no permission."""
CHOICE = "choose_version"
"""The tool behind the buttons of the page, by which a person changes a run."""
PRESSED: Mapping[str, Any] = MappingProxyType({"ui": {"visibility": ["app"]}})
"""The `_meta` of a tool that pages call, and no model."""
VIEW = "sifaka/view"
"""The name of the data in the `_meta` of a result."""
_MOST = 100_000
"""Characters of texts that go with a result; hosts cut results at about 150,000."""
_MUCH = 400_000
"""Characters of all versions up to which the changes of the best one are worked out unasked."""


def hide_choice(ctx: ServerRequestContext[Any, Any], listed: dict[str, Any]) -> None:
    """Leave the tool of the buttons in a list only for hosts that know to keep it from models."""
    if not client_supports_apps(ctx):
        listed["tools"] = [each for each in listed["tools"] if each["name"] != CHOICE]


def view_of(run: Run) -> dict[str, Any]:
    """The `_meta` of a result about a run: its view, with the texts of its best version."""
    from sifaka_mcp.ui.page_data import overview_of, version_of

    overview = overview_of(run)
    best = len(run.thoughts) - 1 if overview["champion"] is None else overview["champion"]
    numbers = {0, best} if best >= 0 else set[int]()
    texts = [len(each.text) for each in run.thoughts]
    if sum(texts[each] for each in numbers) > _MOST or sum(texts) > _MUCH:
        numbers.clear()
    versions = {str(each): version_of(run, each) for each in numbers}
    return {VIEW: to_jsonable_python({"run": overview, "versions": versions})}
