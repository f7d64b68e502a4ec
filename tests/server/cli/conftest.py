"""A folder to work in, as this process's own."""

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a text in it and a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path / "home"))
    (tmp_path / "text.md").write_text("We recieve all of the the goods .\n")
    return tmp_path
