"""The start-up time of an installed server that `uvx` starts, against one of the bare SDK."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from benchmarks.report import Figure, Report
from benchmarks.servers import ROOT, environment
from benchmarks.startup import REQUESTS, Request, hear, say

PAIRS = 11
GOAL = 1.2
_ECHO = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "sifaka-echo-server"
version = "1"
requires-python = ">=3.11"
dependencies = ["mcp"]

[project.scripts]
echo-server = "echo_server:main"

[tool.hatch.build.targets.wheel]
include = ["echo_server.py"]
"""
_MAIN = """

def main() -> None:
    server.run("stdio")
"""


class _First(NamedTuple):
    """The first answer of a server."""

    seconds: float
    """From spawning uvx."""
    processor: float
    """Seconds of the processor until then, of uvx and of the server."""


def measure() -> Report:
    """From spawning uvx to the first answer of the server that it starts."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ours, bare = _wheels(place)
        pins = place / "pins.txt"
        form = ("--no-emit-project", "--no-hashes", "--no-annotate", "--no-header")
        pins.write_text(
            _uv("export", "--quiet", "--frozen", "--no-default-groups", *form), encoding="utf-8"
        )
        variables = {"UV_CONSTRAINT": str(pins), "UV_PYTHON": sys.executable}
        commands = (
            (_tool("uvx"), "--quiet", "--from", str(ours), "sifaka-mcp"),
            (_tool("uvx"), "--quiet", "--from", str(bare), "echo-server"),
        )
        for era, (request, _) in REQUESTS.items():
            taken: tuple[list[_First], list[_First]] = ([], [])
            for number in range(PAIRS + 1):
                # The first pair installs, and compiles what is imported.
                env = {
                    **environment(folder),
                    **variables,
                    **({"UV_OFFLINE": "1"} if number else {}),
                }
                for which in (0, 1) if number % 2 else (1, 0):
                    taken[which].append(_first(commands[which], request, env))
            for field, name in {"seconds": "", "processor": ", processor"}.items():
                a, b = ([getattr(first, field) for first in each[1:]] for each in taken)
                ratios = [x / y for x, y in zip(a, b, strict=True)]
                what = f"{era} {request[0]}{name}"
                figures += [
                    Figure(what=f"{what}, sifaka", value=median(a) * 1000, unit="ms"),
                    Figure(what=f"{what}, bare", value=median(b) * 1000, unit="ms"),
                    Figure(
                        what=f"{what}, sifaka / bare", value=median(ratios), unit="x", most=GOAL
                    ),
                ]
    return Report(
        title="uvx: from spawning uvx to the first answer of the server that it starts",
        method=f"{PAIRS} pairs of `uvx --from WHEEL` with our wheel and one of the bare echo "
        "server for each era, in the versions of our lock and with one cache of uv; the pair "
        "before them installs both and leaves the bytecode, and the others run without the "
        "network, whose answers would be the larger part. Which of the two is first changes from "
        "pair to pair. `processor` is user and system time of uvx and the server, which other work "
        "of the machine disturbs less; Linux alone tells it. The ratio is the median of the pairs' "
        "ratios.",
        figures=tuple(figures),
    )


def _first(command: tuple[str, ...], request: Request, env: Mapping[str, str]) -> _First:
    written = {name: value for name, value in env.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = perf_counter()
    with subprocess.Popen(
        command, env=written, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        say(process.stdin, request, number=1)
        hear(process.stdout, 1)
        seconds = perf_counter() - started
        taken = _processor(process.pid)
        process.stdin.close()  # both end by themselves: uvx waits for what it has started
    return _First(seconds, taken)


def _processor(pid: int) -> float:
    """Seconds of the processor that a process and those under it have used, as Linux counts."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    ticks = sum(int(field) for field in fields[11:15])  # its own, and of those that have ended
    below = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(word) for told in below for word in told.read_text(encoding="utf-8").split()]
    return ticks / os.sysconf("SC_CLK_TCK") + sum(map(_processor, children))


def _wheels(folder: Path) -> tuple[Path, Path]:
    """Our wheel and that of the bare server, newly built."""
    source = folder / "echo"
    source.mkdir()
    (source / "pyproject.toml").write_text(_ECHO, encoding="utf-8")
    text = (ROOT / "benchmarks" / "echo_server.py").read_text(encoding="utf-8")
    (source / "echo_server.py").write_text(text + _MAIN, encoding="utf-8")
    found: list[Path] = []
    for project, name in ((ROOT, "ours"), (source, "bare")):
        _uv("build", "--quiet", "--wheel", "--out-dir", str(folder / name), str(project))
        found += (folder / name).glob("*.whl")
    ours, bare = found
    return ours, bare


def _uv(*arguments: str) -> str:
    done = subprocess.run(
        [_tool("uv"), *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def _tool(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is not installed: make installs it into .venv")
    return found
