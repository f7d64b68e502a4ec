"""The format of a text that commands read: by its file's name, or as they are told."""

from pathlib import Path

import pytest

from sifaka_mcp.cli import run

RST = "Title\n=====\n\nWe recieve it.\n\n.. code-block:: python\n\n   from recieve import teh\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path / "home"))
    return tmp_path


def test_a_documents_format_follows_its_name(home: Path) -> None:
    path = home / "text.rst"
    path.write_text(RST)
    assert run(["improve", str(path), "--in-place"]) == 0
    assert path.read_text() == RST.replace("We recieve", "We receive")


def test_source_code_is_refused_with_what_to_do(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "main.c"
    path.write_text("int recieve;\n")
    for command in ("improve", "critique"):
        assert run([command, str(path)]) == 2
        assert "--as text" in capsys.readouterr().err
    assert path.read_text() == "int recieve;\n"


def test_a_format_can_be_named(home: Path) -> None:
    path = home / "notes.c"
    path.write_text("We recieve it on Monday.\n")
    assert run(["improve", str(path), "--as", "text", "--in-place"]) == 0
    assert path.read_text() == "We receive it on Monday.\n"


def test_a_format_that_is_unknown_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "text.md"
    path.write_text("We recieve it.\n")
    assert run(["improve", str(path), "--as", "markdwn"]) == 2
    assert "did you mean 'markdown'" in capsys.readouterr().err
