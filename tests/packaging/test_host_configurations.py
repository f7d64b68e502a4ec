"""Every configuration that the documents show is parsed and launched.

`uvx sifaka-mcp` takes a published release. Here `published` makes uv take our wheel for it, and
command, arguments and environment are those that are written. Paths of a checkout lead to this one.
"""

import base64
import json
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from sifaka_mcp.settings import TOOLSETS
from tests.docs.markdown import ROOT, blocks
from tests.packaging.uv import run_uv, uv_environment
from tests.stubs.served import grant_token, served
from tests.stubs.servers import environment

pytestmark = pytest.mark.anyio

DOCUMENTS = ("README.md", "docs/hosts.md")
INSTALLED = Path(sys.executable).with_name("sifaka-mcp")
CHECKOUT = "/path/to/sifaka/.venv/bin/sifaka-mcp"
"""What the documents write for the console script of a checkout."""
RELEASED = {"command": "uvx", "args": ["sifaka-mcp"]}
FORMS = ("mcpServers", "servers")
ENDPOINT = "http://127.0.0.1:8000/mcp"
"""Where a server listens that was told no other port."""
PLACEHOLDERS = ("...", "${input:sifaka-token}")
"""What the documents write for a token, and what VS Code replaces by one."""


@dataclass(frozen=True)
class Launch:
    """What a host would start or connect to, and where it is written."""

    place: str
    server: dict[str, Any]
    inputs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def written_in_files() -> list[Launch]:
    found = [("mcp.json", (ROOT / "mcp.json").read_text(encoding="utf-8"))]
    found += [
        (f"{document}:{block.line}", block.content)
        for document in DOCUMENTS
        for block in blocks(document, "json")
    ]
    launches: list[Launch] = []
    for place, text in found:
        told = cast("dict[str, Any]", json.loads(text))
        launches += [
            Launch(f"{place}:{form}", server, told.get("inputs", []))
            for form in FORMS
            for server in told.get(form, {}).values()
        ]
    return launches


def written_as_commands() -> list[Launch]:
    """`claude mcp add ...` as the configuration that it makes."""
    return [
        Launch(f"{document}:{block.line}", added(shlex.split(line)))
        for document in DOCUMENTS
        for block in blocks(document, "sh")
        for line in block.content.splitlines()
        if line.startswith("claude mcp add ")
    ]


def written_in_links() -> list[Launch]:
    """What the links of a release, which stand in a comment, would add to a host."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (hidden,) = re.findall(r"<!-- of a release: (.*) -->", readme)
    launches: list[Launch] = []
    for link in cast("list[str]", re.findall(r"\((\S+)\)", hidden)):
        asked = parse_qs(urlsplit(link).query)
        assert asked["name"] == ["sifaka"]
        (config,) = asked["config"]
        told = config if config.startswith("{") else base64.b64decode(config).decode()
        launches.append(Launch(f"README.md:{link[:12]}", json.loads(told)))
    return launches


def added(words: list[str]) -> dict[str, Any]:
    """`claude mcp add NAME [--env A=B]... -- COMMAND...`, or `--transport http NAME URL`."""
    if "--" in words:
        separator = words.index("--")
        options, (command, *arguments) = words[3:separator], words[separator + 1 :]
        name, *rest = options
        assert rest[::2] == ["--env"] * (len(rest) // 2), "only variables are set"
        assert name == "sifaka"
        variables = dict(pair.split("=", 1) for pair in rest[1::2])
        return {"command": command, "args": arguments, "env": variables}
    transport, kind, name, url, *rest = words[3:]
    assert (transport, kind, name) == ("--transport", "http", "sifaka")
    assert rest[::2] == ["--header"] * (len(rest) // 2)
    return {"url": url, "headers": dict(header.split(": ", 1) for header in rest[1::2])}


LAUNCHES = [*written_in_files(), *written_as_commands(), *written_in_links()]
STDIO = [launch for launch in LAUNCHES if "command" in launch.server]
HTTP = [launch for launch in LAUNCHES if "command" not in launch.server]


def parts(server: dict[str, Any]) -> tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Command, arguments and environment: what tells one launch from another."""
    return server["command"], tuple(server["args"]), tuple(server.get("env", {}).items())


DIFFERENT = {parts(launch.server): launch for launch in STDIO}
"""What is written several times is started once."""


def installed(command: str, arguments: list[str]) -> list[str]:
    """The arguments for our console script, when the command is a way to run it."""
    if command == CHECKOUT:
        return arguments
    assert [command, *arguments] == ["uvx", INSTALLED.name], "not known to the documents"
    return []


async def works(client: Client, settings: Mapping[str, str] = MappingProxyType({})) -> None:
    """The tools that are asked for are listed, and one of them answers."""
    toolsets = settings.get("SIFAKA_TOOLSETS", "refine").split(",")
    offered = {tool for name in toolsets for tool in TOOLSETS[name]}
    assert {tool.name for tool in (await client.list_tools()).tools} == offered
    result = await client.call_tool(
        "validate_text", {"text": "One two.", "validators": [{"type": "length", "max_words": 2}]}
    )
    assert result.structured_content is not None
    assert result.structured_content["passed"] is True


def test_both_forms_are_shown_and_the_file_is_one_of_them() -> None:
    assert {launch.place.rpartition(":")[2] for launch in written_in_files()} == set(FORMS)
    assert LAUNCHES[0].place == "mcp.json:mcpServers"
    assert written_as_commands()
    assert HTTP


def test_the_links_of_a_release_are_hidden_before_one() -> None:
    """Nobody owns the name on PyPI before the first release, so no link runs it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("/mcp/install?") == len(written_in_links()) == 2
    assert all(launch.server == RELEASED for launch in written_in_links())


def test_every_host_has_its_section() -> None:
    for host in ("Claude Desktop", "Claude Code", "Cursor", "VS Code", "Windsurf"):
        assert f"\n## {host}\n" in (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")


def test_every_configuration_runs_our_command() -> None:
    for launch in STDIO:
        assert launch.server.keys() <= {"type", "command", "args", "env"}, launch.place
        assert not installed(launch.server["command"], launch.server["args"]), launch.place


@pytest.mark.servers
@pytest.mark.parametrize(
    "settings", [dict(pairs) for pairs in {key[2]: None for key in DIFFERENT}], ids=list
)
async def test_with_what_is_set_the_command_works(settings: dict[str, str], tmp_path: Path) -> None:
    parameters = StdioServerParameters(
        command=str(INSTALLED), env=environment(tmp_path, **settings), cwd=str(tmp_path)
    )
    async with Client(parameters) as client:
        await works(client, settings)


@pytest.mark.servers
@pytest.mark.parametrize(
    "launch", DIFFERENT.values(), ids=[" ".join((key[0], *key[1])) for key in DIFFERENT]
)
async def test_what_is_written_works(
    launch: Launch, published: dict[str, str], tmp_path: Path
) -> None:
    server = launch.server
    command, arguments = server["command"], server["args"]
    if command == CHECKOUT:
        command = str(INSTALLED)
    else:
        run_uv(command, *arguments, "--help", variables=published)  # installs, or skips
    parameters = StdioServerParameters(
        command=command,
        args=arguments,
        env={**uv_environment(environment(tmp_path)), **published, **server.get("env", {})},
        cwd=str(tmp_path),
    )
    with anyio.fail_after(60):
        async with Client(parameters) as client:
            await works(client, server.get("env", {}))


def address(server: dict[str, Any]) -> str:
    return server.get("url") or server["serverUrl"]


def test_addresses_are_where_a_server_listens_and_tokens_are_asked_for() -> None:
    assert {address(launch.server) for launch in HTTP} == {ENDPOINT}
    for launch in HTTP:
        ids = {given["id"] for given in launch.inputs}
        (header,) = launch.server["headers"].items()
        assert header[0] == "Authorization"
        assert header[1] in {f"Bearer {placeholder}" for placeholder in PLACEHOLDERS}
        assert ids == ({"sifaka-token"} if "input:" in header[1] else set())


@pytest.mark.parametrize("launch", HTTP, ids=[launch.place for launch in HTTP])
async def test_what_is_configured_for_http_connects(launch: Launch, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    token = grant_token(tokens, "alice")
    headers: dict[str, str] = launch.server["headers"]
    for placeholder in PLACEHOLDERS:
        headers = {name: value.replace(placeholder, token) for name, value in headers.items()}
    with served(tmp_path, auth_tokens_file=tokens) as url:
        here = urlsplit(address(launch.server))._replace(netloc=urlsplit(url).netloc).geturl()
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(here, http_client=http)) as client,
        ):
            await works(client)
