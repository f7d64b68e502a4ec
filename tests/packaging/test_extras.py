"""The wheel without extras: it weighs little, does its main work, and names what it lacks."""

import json
import subprocess
from pathlib import Path

import pytest

from distribution.weights import weight_of
from tests.packaging.project import PROJECT
from tests.packaging.uv import run_uv
from tests.stubs.servers import environment

pytestmark = pytest.mark.servers
MOST_PACKAGES, MOST_MEGABYTES = 45, 150
TEXT = "We recieve teh  apple — and it works.\n"


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
    assert "We [-recieve teh  -]{+receive the +}" in done.stderr
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
    assert line.endswith(f"pip install 'sifaka-mcp[{extra}]'")
    assert extra in PROJECT["optional-dependencies"]
