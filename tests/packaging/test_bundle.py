"""The bundle that hosts install with a click: its manifest, its icon, and the packed file."""

import json
import platform
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import anyio
import pytest
from mcp import Client, StdioServerParameters

from distribution.bundle import BRINGS, DOWNLOADS, EXTRAS, PARTS, PYTHON, lay_out, manifest
from distribution.icon import LARGE, PNG, SHAPES, SMALL, SVG, png, svg
from distribution.wheels import PLATFORMS
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.icon import ICON, SIZE
from sifaka_mcp.settings import TOOLSETS, Settings
from tests.packaging.project import ROOT
from tests.packaging.uv import uv_environment
from tests.stubs.servers import environment

MANIFEST = manifest()
TOOL_PACKAGES = ("package.json", "package-lock.json", ".npmrc")
ENVIRONMENT: dict[str, str] = MANIFEST["server"]["mcp_config"]["env"]


def test_the_tools_of_the_manifest_are_those_that_are_offered_by_default() -> None:
    (toolset,) = Settings().toolsets
    assert [tool["name"] for tool in MANIFEST["tools"]] == list(TOOLSETS[toolset])
    assert all(tool["description"] for tool in MANIFEST["tools"])


def test_every_field_is_optional_sets_one_variable_and_is_empty_until_somebody_fills_it() -> None:
    fields: dict[str, Any] = MANIFEST["user_config"]
    wanted = sorted(f"${{user_config.{name}}}" for name in fields)
    assert sorted(ENVIRONMENT.values()) == wanted
    for name, field in fields.items():
        # Without a default a host would leave `${user_config.x}` itself in the variable.
        assert (field["required"], field["default"]) == (False, ""), name


def test_what_is_secret_is_marked_as_such() -> None:
    fields: dict[str, Any] = MANIFEST["user_config"]
    secret = {name for name, field in fields.items() if field.get("sensitive")}
    assert secret == {*(name for name in fields if name.endswith("_api_key")), "store"}


def test_variables_are_settings_or_keys_of_models_whose_client_is_in_the_bundle() -> None:
    settings = {name for name in ENVIRONMENT if name.startswith("SIFAKA_")}
    assert {name.removeprefix("SIFAKA_").lower() for name in settings} <= set(Settings.model_fields)
    providers = {name.removesuffix("_API_KEY").lower() for name in ENVIRONMENT.keys() - settings}
    assert providers == set(EXTRAS) - {"redis"}


def test_what_the_file_says_is_not_said_again_by_the_project() -> None:
    written = json.loads((PARTS / "manifest.json").read_text(encoding="utf-8"))
    assert not {"version", "description", "author", "license", "keywords", "tools"} & set(written)


def test_a_bundle_says_what_its_first_start_downloads() -> None:
    assert MANIFEST["long_description"].endswith(f"\n\n{DOWNLOADS}")
    assert MANIFEST["compatibility"]["platforms"] == ["darwin", "win32", "linux"]
    for name, place in PLATFORMS.items():
        told = manifest(name)
        assert told["long_description"].endswith(f"\n\n{BRINGS}")
        assert told["compatibility"] == {
            "platforms": [place.host],
            "runtimes": {"python": f"=={PYTHON}.*"},
        }
        same = {"long_description", "compatibility"}
        assert all(told[key] == MANIFEST[key] for key in MANIFEST.keys() - same)


def test_the_packer_is_installed_from_a_lock_that_names_no_registry() -> None:
    locked = json.loads((ROOT / "distribution" / "package-lock.json").read_text(encoding="utf-8"))
    wanted = json.loads((ROOT / "distribution" / "package.json").read_text(encoding="utf-8"))
    packages: dict[str, Any] = locked["packages"]
    assert packages[""]["devDependencies"] == wanted["devDependencies"]
    assert all("integrity" in package for name, package in packages.items() if name)
    assert not any("resolved" in package for package in packages.values())


@pytest.fixture(scope="module")
def packed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make bundle` makes, by the same steps."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm here")
    folder = tmp_path_factory.mktemp("bundle")
    tools = folder / "tools"
    tools.mkdir()
    for name in TOOL_PACKAGES:
        shutil.copy(ROOT / "distribution" / name, tools)
    done = subprocess.run(
        [npm, "ci", "--prefix", tools, "--silent", "--no-audit", "--no-fund", "--prefer-offline"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"npm cannot install the packer: {done.stderr[-200:]}")
    lay_out(folder / "sifaka", wheel)
    mcpb, target = tools / "node_modules" / ".bin" / "mcpb", folder / "sifaka-mcp.mcpb"
    for command in (["validate", folder / "sifaka"], ["pack", folder / "sifaka", target]):
        subprocess.run([mcpb, *command], capture_output=True, check=True)
    return target


@pytest.fixture(scope="module")
def unpacked(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle where a host has put it."""
    folder = tmp_path_factory.mktemp("extensions") / "sifaka-mcp"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    return folder


def launch(unpacked: Path, home: Path, **fields: str) -> StdioServerParameters:
    """What the manifest says to start when its fields are filled in like this."""
    told: dict[str, Any] = json.loads((unpacked / "manifest.json").read_text(encoding="utf-8"))
    values = {"__dirname": str(unpacked)}
    for name, field in told["user_config"].items():
        values[f"user_config.{name}"] = fields.get(name, str(field["default"]))

    def filled(text: str) -> str:
        for name, value in values.items():
            text = text.replace(f"${{{name}}}", value)
        assert "${" not in text
        return text

    config = told["server"]["mcp_config"]
    variables = {name: filled(value) for name, value in config["env"].items()}
    return StdioServerParameters(
        command=filled(config["command"]),
        args=[filled(argument) for argument in config["args"]],
        env={**uv_environment(environment(home)), **variables},
        cwd=str(home),
    )


@pytest.mark.servers
def test_the_packed_file_holds_what_it_takes_and_nothing_of_this_machine(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        names = set(archive.namelist())
        lock = archive.read("uv.lock").decode("utf-8")
        told = json.loads(archive.read("manifest.json"))
    (wheel,) = [name for name in names if name.endswith(".whl")]
    assert names == {
        *("LICENSE", "icon.png", "launch.py", "manifest.json", "pyproject.toml", "uv.lock"),
        wheel,
    }
    assert told == MANIFEST
    assert told["server"]["entry_point"] in names
    assert f'path = "{wheel}"' in lock
    assert str(ROOT) not in lock
    assert "file://" not in lock


@pytest.mark.servers
@pytest.mark.anyio
async def test_unpacked_elsewhere_what_the_manifest_says_works(
    unpacked: Path, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    parameters = launch(unpacked, tmp_path, store=f"file:///{runs}")
    with anyio.fail_after(110):  # the first start installs
        async with Client(parameters) as client:
            assert client.server_info is not None
            assert client.server_info.version == MANIFEST["version"]
            listed = {tool.name: tool.description for tool in (await client.list_tools()).tools}
            checked = await client.call_tool(
                "validate_text",
                {"text": "One two.", "validators": [{"type": "length", "max_words": 1}]},
            )
            improved = await client.call_tool("improve_text", {"text": "It is is so ."})
    assert not improved.is_error, improved.content
    assert listed == {tool["name"]: tool["description"] for tool in MANIFEST["tools"]}
    assert checked.structured_content is not None
    assert checked.structured_content["passed"] is False
    assert any(path.is_file() for path in runs.rglob("*")), "the field `store` is used"


@pytest.mark.servers
@pytest.mark.timeout(400)  # 80 wheels are downloaded, unless pip has them
@pytest.mark.anyio
async def test_with_its_wheels_inside_it_starts_without_the_network(
    wheel: Path, tmp_path: Path
) -> None:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the bundle that is tried is that for Linux on x86_64")
    laid = tmp_path / "laid"
    lay_out(laid, wheel, "linux-x86_64")
    unpacked = (tmp_path / "elsewhere").resolve()
    laid.rename(unpacked)
    assert "://" not in (unpacked / "uv.lock").read_text(encoding="utf-8")
    parameters = launch(unpacked, tmp_path)
    assert parameters.env is not None
    alone = {
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_FIND_LINKS": "",
    }
    parameters = parameters.model_copy(update={"env": {**parameters.env, **alone}})
    with anyio.fail_after(110):
        async with Client(parameters) as client:
            improved = await client.call_tool("improve_text", {"text": "It is is so ."})
    assert not improved.is_error, improved.content


@pytest.mark.servers
@pytest.mark.anyio
async def test_a_model_without_its_key_is_told_by_its_name(unpacked: Path, tmp_path: Path) -> None:
    parameters = launch(unpacked, tmp_path, model="openai:gpt-5")
    assert parameters.env is not None
    assert parameters.env["OPENAI_API_KEY"] == ""
    with anyio.fail_after(110):
        async with Client(parameters) as client:
            result = await client.call_tool("improve_text", {"text": "It is is so ."})
    assert result.is_error
    assert "OPENAI_API_KEY" in str(result.content)


_PREFIX = "data:image/png;base64,"


def chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Those of a PNG, whose check sums are right."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    at = 8
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        name, content = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        (stated,) = struct.unpack_from(">I", picture, at + 8 + length)
        assert stated == zlib.crc32(name + content)
        yield name, zlib.decompress(content) if name == b"IDAT" else content
        at += 12 + length


def small() -> bytes:
    return b64decode(ICON.removeprefix(_PREFIX), validate=True)


@pytest.mark.slow
def test_every_file_shows_what_is_drawn() -> None:
    # Another zlib may press the same pixels into other bytes.
    assert dict(chunks(PNG.read_bytes())) == dict(chunks(png(LARGE)))
    assert dict(chunks(small())) == dict(chunks(png(SMALL)))
    assert SVG.read_text(encoding="utf-8") == svg()


def test_a_picture_has_the_pixels_that_it_says() -> None:
    for picture, side in ((PNG.read_bytes(), LARGE), (small(), SMALL)):
        parts = dict(chunks(picture))
        assert struct.unpack_from(">II", parts[b"IHDR"]) == (side, side)
        assert len(parts[b"IDAT"]) == side * (1 + side // 2), "four bits a pixel"
        assert 1 < len(parts[b"PLTE"]) // 3 <= 16
    assert f"{SMALL}x{SMALL}" == SIZE


def test_the_drawing_holds_shapes_and_nothing_that_runs() -> None:
    names = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg()).iter()]  # noqa: S314 - ours
    assert names == ["svg", "rect", *["ellipse"] * len(SHAPES)]


@pytest.mark.anyio
async def test_the_server_brings_its_icon_and_tools_bring_none() -> None:
    async with Client(SifakaServer(Settings())) as client:
        assert client.server_info is not None
        (icon,) = client.server_info.icons or []
        assert (icon.src, icon.mime_type, icon.sizes) == (ICON, "image/png", [SIZE])
        # It is sent with answers of the newer protocol, so it has to be small.
        assert len(icon.src) < 800
        assert not any(tool.icons for tool in (await client.list_tools()).tools)


def test_a_bundle_shows_the_large_picture() -> None:
    assert manifest()["icon"] == PNG.name
