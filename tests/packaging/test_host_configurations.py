"""Every configuration that the documents show is parsed and launched."""

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client, StdioServerParameters

from server.settings import TOOLSETS
from tests.docs.markdown import ROOT, blocks
from tests.stubs.servers import environment, http_server

pytestmark = pytest.mark.anyio

DOCUMENTS = ("README.md", "docs/hosts.md")
INSTALLED = Path(sys.executable).with_name("sifaka-mcp")
CHECKOUT = "/path/to/sifaka/.venv/bin/sifaka-mcp"
"""What the documents write for the console script of a checkout."""
FORMS = ("mcpServers", "servers")


@dataclass(frozen=True)
class Launch:
    """What a host would start, and where it is written."""

    place: str
    server: dict[str, Any]


def written_in_files() -> list[Launch]:
    found = [("mcp.json", (ROOT / "mcp.json").read_text(encoding="utf-8"))]
    found += [
        (f"{document}:{block.line}", block.content)
        for document in DOCUMENTS
        for block in blocks(document, "json")
    ]
    return [
        Launch(f"{place}:{form}", server)
        for place, text in found
        for form in FORMS
        for server in cast("dict[str, Any]", json.loads(text)).get(form, {}).values()
    ]


def written_as_commands() -> list[Launch]:
    """`claude mcp add NAME [--env A=B] -- COMMAND...` as the configuration it makes."""
    found: list[Launch] = []
    for document in DOCUMENTS:
        for block in blocks(document, "sh"):
            for line in block.content.splitlines():
                if line.startswith("claude mcp add") and " -- " in line:
                    command, *arguments = shlex.split(line.partition(" -- ")[2])
                    server = {"command": command, "args": arguments}
                    found.append(Launch(f"{document}:{block.line}", server))
    return found


LAUNCHES = [*written_in_files(), *written_as_commands()]
STDIO = [launch for launch in LAUNCHES if "command" in launch.server]
HTTP = [launch for launch in LAUNCHES if "command" not in launch.server]


DIFFERENT = [
    dict(pairs) for pairs in {tuple(launch.server.get("env", {}).items()): None for launch in STDIO}
]
"""The environments they set; in all else they are the same command, so each is started once."""


def installed(command: str, arguments: list[str]) -> list[str]:
    """The arguments for our console script, when the command is a way to run it."""
    if command == CHECKOUT:
        return arguments
    assert command == "uvx", f"{command} is not known to the documents"
    if arguments[0] == "--from":
        assert arguments[1].startswith(("sifaka-mcp[", "/path/to/sifaka"))
        arguments = arguments[2:]
    assert arguments[0] == INSTALLED.name
    return arguments[1:]


def test_both_forms_are_shown_and_the_file_is_one_of_them() -> None:
    assert {launch.place.rpartition(":")[2] for launch in written_in_files()} == set(FORMS)
    assert LAUNCHES[0].place == "mcp.json:mcpServers"
    assert written_as_commands()
    assert HTTP


def test_every_configuration_runs_our_command() -> None:
    for launch in STDIO:
        assert launch.server.keys() <= {"type", "command", "args", "env"}, launch.place
        assert not installed(launch.server["command"], launch.server["args"]), launch.place


@pytest.mark.parametrize("settings", DIFFERENT, ids=list)
async def test_what_is_configured_starts_and_lists_its_tools(
    settings: dict[str, str], tmp_path: Path
) -> None:
    parameters = StdioServerParameters(
        command=str(INSTALLED), env=environment(tmp_path, **settings), cwd=str(tmp_path)
    )
    async with Client(parameters) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == set(TOOLSETS["refine"])


async def test_the_configured_addresses_are_where_the_server_listens(tmp_path: Path) -> None:
    addresses = {launch.server.get("url") or launch.server["serverUrl"] for launch in HTTP}
    assert addresses == {"http://127.0.0.1:8000/mcp"}
    with http_server(tmp_path) as (url, _):
        scheme, _, rest = url.partition("://")
        assert f"{scheme}://127.0.0.1:8000/{rest.partition('/')[2]}" in addresses
        async with Client(url) as client:
            assert (await client.list_tools()).tools
