"""Links lead somewhere; commands, flags, targets, files and tests that are named exist."""

import re
import shlex
from pathlib import Path

import pytest

from sifaka_mcp.cli import COMMANDS, run
from tests.docs.markdown import DOCUMENTS, ROOT, anchors, blocks, links, prose, read

FOREIGN = {
    "cd",
    "claude",
    "codex",
    "docker",
    "export",
    "gemini",
    "git",
    "pip",
    ".venv/bin/pip",
    "sh",
}
"""Programs whose use is not checked here."""
UNREGISTERED = re.compile(
    r"(?:pip install|uvx|--from|uv tool install)[^\n]*['\" ]sifaka-mcp(?![^'\"\n]* @ )"
)
"""A command that takes the name from PyPI, where it is nobody's before the first release."""
_OWN_PATH = re.compile(r"(?<![\w/.])(?:sifaka|server|tests|docs|examples|benchmarks)/[\w/.-]*")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_to_a_file_and_to_a_heading_in_it(document: str) -> None:
    for link in links(read(document)):
        if link.startswith(("https://", "cursor://")):
            continue
        name, _, fragment = link.partition("#")
        target = (ROOT / document).parent / name if name else ROOT / document
        assert target.exists(), link
        if fragment:
            assert fragment in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_own_file_that_is_named_exists(document: str) -> None:
    for span in re.findall(r"`([^`\n]+)`", prose(read(document))):
        for path in _OWN_PATH.findall(span):
            if "<" not in span and not span.startswith("~"):
                assert (ROOT / path).exists(), span


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_that_is_shown_exists_with_its_flags(
    document: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = read(document)
    lines = [line for block in blocks(document, "sh") for line in block.content.splitlines()]
    lines += re.findall(r"`((?:make|sifaka|\.venv/bin/\w+) [^`\n]+)`", prose(text))
    for line in lines:
        for command in line.partition(" #")[0].split("&&"):
            if command.strip():
                _check(shlex.split(command), capsys)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_command_takes_from_pypi_what_is_not_there(document: str) -> None:
    assert not UNREGISTERED.search(read(document))


def _check(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        targets = re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE)
        assert {word for word in words[1:] if "=" not in word} <= set(targets), words
    elif words[0].rpartition("/")[2] == "sifaka":
        _check_sifaka(words[1:], capsys)
    elif words[:3] == [".venv/bin/python", "-m", "pytest"]:
        _check_pytest(words[3:])
    elif words[0] == ".venv/bin/python":
        assert (ROOT / words[1]).is_file(), words
    else:
        assert words[0] in FOREIGN, words


def _check_sifaka(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert words[0] in COMMANDS, words
    with pytest.raises(SystemExit):
        run([words[0], "--help"])
    known = re.findall(r"--[a-z-]+", capsys.readouterr().out)
    assert {word for word in words if word.startswith("--")} <= set(known), words


def _check_pytest(words: list[str]) -> None:
    place = ROOT / words[0]
    files = [place] if place.is_file() else list(place.rglob("test_*.py"))
    names = [name for file in files for name in _tests(file)]
    wanted = words[words.index("-k") + 1] if "-k" in words else ""
    if wanted != "name":  # a placeholder
        assert [name for name in names if wanted in name], words


def _tests(file: Path) -> list[str]:
    return re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
