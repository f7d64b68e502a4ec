"""server.json, by which the MCP registry lists the server and clients install it.

The rules are those of the schema of 2025-12-11 and of the official registry, as far as they touch
what the entry says. With `MCP_REGISTRY_SCHEMA`, the file of that schema, all of it is checked.
"""

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, FormatChecker
from mcp import Client, StdioServerParameters

from distribution.bundle import manifest
from distribution.identity import identity
from sifaka_mcp.settings import Settings
from tests.packaging.dockerfile import read_dockerfile
from tests.packaging.project import PROJECT, ROOT
from tests.packaging.uv import run_uv, uv_environment
from tests.stubs.servers import environment

ENTRY: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
PACKAGE, IMAGE = ENTRY["packages"]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def test_it_has_the_fields_of_the_schema_and_no_others() -> None:
    assert ENTRY["$schema"] == SCHEMA
    assert ENTRY.keys() == {
        *("$schema", "name", "title", "description", "version", "websiteUrl", "repository"),
        *("icons", "packages"),
    }
    repository = PROJECT["urls"]["Repository"]
    assert ENTRY["websiteUrl"] == repository
    assert ENTRY["repository"] == {"url": repository, "source": "github"}
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


def test_the_published_schema_takes_it_where_its_file_is_named() -> None:
    if "MCP_REGISTRY_SCHEMA" not in os.environ:
        pytest.skip("MCP_REGISTRY_SCHEMA names no file")
    schema = json.loads(Path(os.environ["MCP_REGISTRY_SCHEMA"]).read_text(encoding="utf-8"))
    assert schema["$id"] == ENTRY["$schema"]
    checker: Any = Draft7Validator(schema, format_checker=FormatChecker())
    assert [error.message for error in checker.iter_errors(ENTRY)] == []
    broken: dict[str, Any] = {**ENTRY, "packages": [{**PACKAGE, "version": "latest"}]}
    assert not checker.is_valid(broken), "the schema is one that refuses something"


def test_icons_are_files_of_the_repository_that_every_client_may_show() -> None:
    place = f"https://raw.githubusercontent.com/{identity().place}/main/"
    kinds = {"image/png": b"\x89PNG", "image/svg+xml": b"<svg"}
    assert {icon["mimeType"] for icon in ENTRY["icons"]} == kinds.keys()
    for icon in ENTRY["icons"]:
        assert icon.keys() == {"src", "mimeType", "sizes"}
        assert len(icon["src"]) <= 255
        assert all(re.fullmatch(r"\d+x\d+|any", size) for size in icon["sizes"])
        assert icon["src"].startswith(place)
        picture = (ROOT / icon["src"].removeprefix(place)).read_bytes()
        assert picture.startswith(kinds[icon["mimeType"]])


def test_the_image_is_that_of_the_release_and_serves_over_stdio() -> None:
    # The registry takes the version from the identifier, and refuses it in a field of its own.
    assert IMAGE.keys() == {
        *("registryType", "identifier", "runtimeHint", "runtimeArguments", "packageArguments"),
        *("transport", "environmentVariables"),
    }
    assert (IMAGE["registryType"], IMAGE["runtimeHint"]) == ("oci", "docker")
    assert IMAGE["identifier"] == f"{identity().image}:{ENTRY['version']}"
    assert IMAGE["transport"] == {"type": "stdio"}
    assert IMAGE["environmentVariables"] == PACKAGE["environmentVariables"]
    (transport,) = IMAGE["packageArguments"]
    assert transport == {"type": "named", "name": "--transport", "value": "stdio"}


def test_the_image_has_the_label_that_proves_whose_it_is_and_keeps_runs_on_its_volume() -> None:
    final = read_dockerfile(ROOT / "Dockerfile")[-1]
    labels = dict(word.split("=", 1) for word in shlex.split(final.only("LABEL").value))
    assert labels["io.modelcontextprotocol.server.name"] == ENTRY["name"]
    (volume,) = IMAGE["runtimeArguments"]
    assert volume["name"] == "--volume"
    assert volume["value"] == f"sifaka:{final.only('VOLUME').value}"


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
