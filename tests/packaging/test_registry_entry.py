"""server.json, by which the MCP registry lists the server and clients install it.

The rules are those of the schema of 2025-12-11 and of the official registry, as far as they touch
what the entry says.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from distribution.bundle import manifest
from sifaka_mcp.settings import Settings
from tests.packaging.project import PROJECT, ROOT
from tests.packaging.uv import run_uv, uv_environment
from tests.stubs.servers import environment

ENTRY: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
(PACKAGE,) = ENTRY["packages"]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def test_it_has_the_fields_of_the_schema_and_no_others() -> None:
    assert ENTRY["$schema"] == SCHEMA
    assert ENTRY.keys() == {"$schema", "name", "title", "description", "version", "packages"}
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", ENTRY["name"])
    assert 3 <= len(ENTRY["name"]) <= 200
    assert 1 <= len(ENTRY["title"]) <= 100
    assert 1 <= len(ENTRY["description"]) <= 100
    assert PACKAGE.keys() == {
        *("registryType", "registryBaseUrl", "identifier", "version", "runtimeHint"),
        *("runtimeArguments", "transport", "environmentVariables"),
    }
    assert (PACKAGE["registryType"], PACKAGE["registryBaseUrl"]) == ("pypi", "https://pypi.org")
    assert PACKAGE["transport"] == {"type": "stdio"}


def test_it_is_of_this_package_in_this_version() -> None:
    assert PACKAGE["identifier"] == PROJECT["name"]
    assert ENTRY["version"] == PACKAGE["version"] == PROJECT["version"]


def test_the_readme_proves_that_the_package_belongs_to_the_entry() -> None:
    # The registry looks for this mark in the description that PyPI shows.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- mcp-name: (\S+) -->", readme) == [ENTRY["name"]]


def test_variables_are_settings_or_keys_of_models_and_secrets_are_marked() -> None:
    variables: dict[str, Any] = {entry["name"]: entry for entry in PACKAGE["environmentVariables"]}
    asked_for = manifest()["server"]["mcp_config"]["env"].keys()
    assert asked_for <= variables.keys(), "what a bundle asks for, an entry does too"
    for name, entry in variables.items():
        assert entry.keys() <= {"name", "description", "placeholder", "default", "isSecret"}
        secret = name.endswith("_API_KEY") or name == "SIFAKA_STORE"
        assert entry.get("isSecret", False) is secret, name
        if not name.endswith("_API_KEY"):
            assert name.removeprefix("SIFAKA_").lower() in Settings.model_fields
        if "default" in entry:
            field = name.removeprefix("SIFAKA_").lower()
            assert Settings.model_validate({field: entry["default"]}) == Settings()


@pytest.mark.servers
@pytest.mark.anyio
async def test_what_a_client_makes_of_it_starts(published: dict[str, str], tmp_path: Path) -> None:
    for argument in PACKAGE["runtimeArguments"]:
        assert argument.keys() == {"type", "name", "value", "description"}
        assert argument["type"] == "named"
    options = [f"{given['name']}={given['value']}" for given in PACKAGE["runtimeArguments"]]
    command = PACKAGE["runtimeHint"]
    arguments = [*options, f"{PACKAGE['identifier']}=={PACKAGE['version']}"]
    run_uv(command, *arguments, "--help", variables=published)  # installs, or skips
    parameters = StdioServerParameters(
        command=command,
        args=arguments,
        env={**uv_environment(environment(tmp_path)), **published},
        cwd=str(tmp_path),
    )
    async with Client(parameters) as client:
        assert client.server_info is not None
        assert client.server_info.version == ENTRY["version"]
        assert (await client.list_tools()).tools
