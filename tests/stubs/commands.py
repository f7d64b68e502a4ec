"""The commands as people and scripts call them: most in this process, a few as their own."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sifaka_mcp.cli import run
from tests.stubs.servers import environment

ROOT = Path(__file__).parents[2]
SIFAKA = (sys.executable, "-m", "sifaka_mcp.cli")


class Done(NamedTuple):
    """What a command in this process has said."""

    code: int
    out: str
    err: str


class Sifaka:
    """Calls commands in this process, in the current folder, in a tenth of a process's time."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str, given: str = "", **more: str) -> Done:
        self._capsys.readouterr()
        with self._monkeypatch.context() as call:
            for name, value in more.items():
                call.setenv(name, value)
            call.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
            try:
                code = run(list(arguments))
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else -1
        told = self._capsys.readouterr()
        return Done(code, told.out, told.err)

    def prints(self, *arguments: str, code: int = 0, **more: str) -> str:
        """What a command prints, which ends with this code."""
        done = self(*arguments, **more)
        assert done.code == code, done
        return done.out

    def json(self, *arguments: str, code: int = 0, **more: str) -> Any:
        """What a command answers as JSON."""
        return json.loads(self.prints(*arguments, "--json", code=code, **more))

    def refuses(self, *arguments: str, **more: str) -> str:
        """The one line in which a command tells of wrong usage."""
        done = self(*arguments, **more)
        assert (done.code, done.out) == (2, ""), done
        assert done.err.startswith("sifaka: ")
        assert done.err.count("\n") == 1
        return done.err


def own_environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a process that works in a folder, with a home in it."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "server")))
    return environment(folder / "home", **{"PYTHONPATH": path, **more})


def sifaka_process(
    folder: Path, *arguments: str, given: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """A command as a process, in a folder."""
    return subprocess.run(
        [*SIFAKA, *arguments],
        cwd=folder,
        env=own_environment(folder, **more),
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def started(
    folder: Path, *arguments: str, program: str = "sifaka_mcp.cli", **more: str
) -> subprocess.Popen[bytes]:
    """A command, or the server, as a process that goes on, in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", program, *arguments],
        cwd=folder,
        env=own_environment(folder, **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
