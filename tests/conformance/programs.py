"""Programs of npm, installed beside this file, run with a time limit and a home of their own."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.stubs.servers import environment

FOLDER = Path(__file__).parent
_BIN = FOLDER / "node_modules" / ".bin"
_ERROR = re.compile(r'\w*Error: |\{"error"')
_SECONDS = 600.0
"""The longest that any one program may take: it ends those that hang, on a busy machine too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a program ended."""

    code: int | None
    """None when it took too long."""
    out: str
    error: str

    @property
    def everything(self) -> str:
        """All that it printed."""
        return f"{self.out}\n{self.error}".strip()

    @property
    def last_words(self) -> str:
        """The line that most probably says what was wrong."""
        if self.code is None:
            return f"not finished within {_SECONDS:g} s"
        lines = [line.strip() for line in self.everything.splitlines() if line.strip()]
        errors = [line for line in lines if _ERROR.match(line)]
        return (errors or lines or [f"exit code {self.code}"])[-1]


def run(
    command: Sequence[str | Path], home: Path, more: Mapping[str, str] | None = None
) -> Finished:
    """Run a program of npm, or a script by `node`, until it ends or takes too long.

    Args:
        command: The program's name and its arguments.
        home: What it and the server it may start take for the home folder.
        more: Further variables of the environment.
    """
    environ = environment(home, HOME=str(home), NO_COLOR="1", **(more or {}))
    # The programs need a newer Node.js than many machines have; npm has brought one if it can.
    environ["PATH"] = f"{_BIN}{os.pathsep}{environ['PATH']}"
    environ.pop("FORCE_COLOR", None)
    try:
        done = subprocess.run(
            command,
            env=environ,
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return Finished(code=None, out=_text(late.stdout), error=_text(late.stderr))
    return Finished(code=done.returncode, out=done.stdout, error=done.stderr)


def with_bearer(token: str) -> Mapping[str, str]:
    """Variables with which every HTTP request of a program brings this token."""
    preload = (FOLDER / "clients" / "bearer.mjs").as_uri()
    return {"NODE_OPTIONS": f"--import={preload}", "MCP_BEARER_TOKEN": token}


def _text(printed: bytes | str | None) -> str:
    return printed.decode(errors="replace") if isinstance(printed, bytes) else printed or ""
