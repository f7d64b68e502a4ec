"""A folder of texts, and the command in this process."""

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sifaka_mcp.cli import run


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Check = Callable[..., Done]


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one, which no rules of a folder above reach."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (tmp_path / "sifaka.toml").write_text("[check]\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path / "home"))
    return folder


@pytest.fixture
def check(
    texts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Check:
    """`sifaka check` with these arguments, in this process."""

    def done(*arguments: str, given: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capsys.readouterr()
        try:
            code = run(["check", *arguments])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else -1
        told = capsys.readouterr()
        return Done(code, told.out, told.err)

    return done
