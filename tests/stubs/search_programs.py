"""Search servers of other people: `make test-servers` installs them."""

import atexit
import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tests.stubs.milvus_server import free_ports

_ROOT = Path(__file__).parents[2]
_INSTALLED = ".venv-mcp-stores/lib/python3*/site-packages"
PROGRAMS = {
    "osmem-server": ("OSMEM_SERVER_BIN", "osmem_server/bin/osmem-server"),
    "noida-db": ("NOIDA_DB_BIN", "noida_db/noida-db"),
}
"""The variable that names each program, and where it is installed."""


@cache
def search_program(name: str) -> str:
    """The URL of one of them that runs until the tests end."""
    folder = tempfile.mkdtemp(prefix=name)
    process = subprocess.Popen(
        _command(name, folder),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    atexit.register(process.kill)
    assert process.stdout is not None
    if name == "osmem-server":
        return str(json.loads(next(process.stdout))["url"]).rstrip("/")
    return next(line for line in process.stdout if "http://" in line).split()[-1]


def _command(name: str, folder: str) -> list[str]:
    if name == "osmem-server":
        return [_binary(name), "--parent-pid", str(os.getpid())]
    only = ["--only", "elasticsearch", "--elasticsearch-port", str(free_ports(1)[0])]
    return [_binary(name), "start", *only, "--data-dir", folder]


def _binary(name: str) -> str:
    """The program that a variable names, or the one that `make test-servers` installs."""
    variable, path = PROGRAMS[name]
    found = os.environ.get(variable) or next(map(str, _ROOT.glob(f"{_INSTALLED}/{path}")), None)
    assert found, f"`make test-servers` installs {name}"
    return found
