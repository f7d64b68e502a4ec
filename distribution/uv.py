"""The uv of this environment."""

import shutil
import subprocess
import sys
from pathlib import Path

from distribution.identity import ROOT


def run_uv(*arguments: str, cwd: Path = ROOT, given: str | None = None) -> str:
    """What a command of uv prints.

    Args:
        arguments: Written by us alone.
        cwd: Where it runs.
        given: What it reads from its standard input.

    Raises:
        SystemExit: There is no uv.
        subprocess.CalledProcessError: The command failed.
    """
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        raise SystemExit("uv is not installed: make installs it into .venv")
    done = subprocess.run(  # noqa: S603 - every argument is written by us
        [uv, *arguments], cwd=cwd, stdout=subprocess.PIPE, input=given, text=True, check=True
    )
    return done.stdout
