"""A folder to work in, as this process's own, and the commands in it."""

from pathlib import Path

import pytest

from tests.stubs.commands import Sifaka


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a text in it and a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path / "home"))
    (tmp_path / "text.md").write_text("We recieve all of the the goods .\n")
    return tmp_path


@pytest.fixture
def sifaka(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Sifaka:
    """Calls commands in that folder."""
    return Sifaka(capsys, monkeypatch)
