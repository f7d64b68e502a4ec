"""The wheel: with its commands alone, and without extras, where it names what it lacks."""

import email.message
import email.parser
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from markdown_it import MarkdownIt
from mcp import Client, StdioServerParameters

from distribution.weights import weight_of
from tests.packaging.project import PROJECT, ROOT, SETTINGS
from tests.packaging.uv import run_uv
from tests.stubs.servers import environment

pytestmark = [pytest.mark.anyio, pytest.mark.servers]


RULES = [{"type": "length", "max_words": 3}]


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return email.parser.Parser().parsestr(archive.read(name).decode("utf-8"))


def test_it_holds_the_two_packages_and_nothing_else(names: list[str]) -> None:
    tops = {PurePosixPath(name).parts[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"sifaka", "sifaka_mcp"}
    for folder, top in ((ROOT, "sifaka"), (ROOT / "server", "sifaka_mcp")):
        packed = {name for name in names if PurePosixPath(name).parts[0] == top}
        there = {
            path.relative_to(folder).as_posix()
            for path in (folder / top).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert packed == there
        assert f"{top}/py.typed" in packed


def test_its_metadata_are_those_of_the_project(metadata: email.message.Message) -> None:
    assert (metadata["Name"], metadata["Version"]) == (PROJECT["name"], PROJECT["version"])
    assert metadata["License-Expression"] == PROJECT["license"] == "MIT"
    assert metadata.get_all("License-File") == PROJECT["license-files"]
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata.get_all("Classifier") == PROJECT["classifiers"]
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert set(metadata.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])


def test_its_description_is_the_readme_and_renders(metadata: email.message.Message) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload()
    assert isinstance(text, str)
    assert text == (ROOT / "README.md").read_text(encoding="utf-8")
    html = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    assert "<h1>Sifaka</h1>" in html
    assert "<table>" in html


def test_the_source_distribution_holds_no_more_than_it_says(distributions: Path) -> None:
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        members = [PurePosixPath(name).parts[1:] for name in archive.getnames()]
    included = SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    needed = {"pyproject.toml", "PKG-INFO", ".gitignore"}
    assert {parts[0] for parts in members if parts} == {*included, *needed}
    assert not [parts for parts in members if {"node_modules", "__pycache__"} & set(parts)]


async def test_alone_its_commands_serve(
    wheel: Path, published: dict[str, str], tmp_path: Path
) -> None:
    venv = tmp_path / "venv"
    run_uv("uv", "venv", "--quiet", str(venv))
    install = ("uv", "pip", "install", "--quiet", "--python", str(venv), str(wheel))
    run_uv(*install, variables=published)
    commands = venv / ("Scripts" if (venv / "Scripts").exists() else "bin")
    home = tmp_path / "home"
    home.mkdir()
    # Nothing of this repository is on its path, and the extras are not installed.
    parameters = StdioServerParameters(
        command=str(commands / "sifaka-mcp"), env=environment(home, PYTHONPATH=""), cwd=str(home)
    )
    async with Client(parameters) as client:
        assert client.server_info is not None
        assert client.server_info.version == PROJECT["version"]
        result = await client.call_tool(
            "validate_text", {"text": "One two three four.", "validators": RULES}
        )
    assert result.structured_content is not None
    assert result.structured_content["passed"] is False


MOST_PACKAGES, MOST_MEGABYTES = 45, 150
TEXT = "We recieve teh apple — and it works.\n"


@pytest.fixture(scope="module")
def plain(wheel: Path, published: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel alone, in which Python has compiled everything."""
    venv = tmp_path_factory.mktemp("plain") / "venv"
    run_uv("uv", "venv", "--quiet", str(venv))
    install = ("uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", str(venv))
    run_uv(*install, str(wheel), variables=published)
    return venv


def sifaka(
    plain: Path, home: Path, *arguments: str, stdin: str = "", **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [plain / "bin" / "sifaka", *arguments],
        env=environment(home, PYTHONPATH="", **settings),
        cwd=home,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_it_weighs_little(plain: Path) -> None:
    weight = weight_of(plain)
    assert weight.packages <= MOST_PACKAGES
    assert weight.megabytes <= MOST_MEGABYTES


def test_it_edits_as_well_as_with_every_extra(plain: Path, tmp_path: Path) -> None:
    done = sifaka(plain, tmp_path, "improve", "-", "--json", stdin=TEXT)
    told = json.loads(done.stdout)
    assert told["text"] == "We receive the apple — and it works.\n"
    assert told["degraded"] == []


def test_a_report_is_plain_text(plain: Path, tmp_path: Path) -> None:
    done = sifaka(plain, tmp_path, "improve", "-", "--max-words", "5", stdin=TEXT)
    assert done.stdout == "We receive the apple — and it works.\n"
    assert "We [-recieve teh-]{+receive the+}" in done.stderr
    verdict, validator, *_ = next(
        line.split() for line in done.stderr.splitlines() if line.startswith("FAIL")
    )
    assert (verdict, validator) == ("FAIL", "length:")
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("extra", "arguments", "settings"),
    [
        ("http", ("serve", "--transport", "http", "--port", "0"), {}),
        ("evidence", ("verify", "text.md", "--adapters", "europepmc:"), {}),
        ("redis", ("history",), {"SIFAKA_STORE": "redis://127.0.0.1:1/0"}),
        ("openai", ("improve", "text.md", "--model", "openai:gpt-5"), {"OPENAI_API_KEY": "sk-x"}),
        ("anthropic", ("improve", "text.md", "--model", "anthropic:x"), {"ANTHROPIC_API_KEY": "x"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_needs_an_extra_says_how_to_install_it(
    plain: Path, tmp_path: Path, extra: str, arguments: tuple[str, ...], settings: dict[str, str]
) -> None:
    (tmp_path / "text.md").write_text(TEXT, encoding="utf-8")
    done = sifaka(plain, tmp_path, *arguments, **settings)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert f"pip install 'sifaka-mcp[{extra}] @ file://" in line
    assert extra in PROJECT["optional-dependencies"]
