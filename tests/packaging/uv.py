"""The uv of this environment, asked for things that may take a package index."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.packaging.project import ROOT

_UNREACHABLE = re.compile(
    r"network (?:connectivity|was disabled)|error sending request|dns error|failed to fetch",
    re.IGNORECASE,
)


def uv_executable(name: str = "uv") -> str:
    """The path of uv, or of uvx."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    assert found, "make installs uv"
    return found


def uv_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a shell in which no virtual environment is active, and uv is found."""
    kept = {name: value for name, value in environ.items() if name != "VIRTUAL_ENV"}
    places = (Path(uv_executable()).parent, Path(uv_executable("uvx")).parent, environ["PATH"])
    return {**kept, "PATH": os.pathsep.join(map(str, places))}


def run_uv(*command: str, variables: Mapping[str, str] | None = None) -> str:
    """What a command of uv prints; skips where the package index is not reached."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**uv_environment(), **(variables or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and _UNREACHABLE.search(done.stderr):
        pytest.skip("the package index is not reached, and uv's cache does not have it all")
    assert done.returncode == 0, done.stderr
    return done.stdout
