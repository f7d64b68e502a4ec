"""Kills under load, by the programs that make them: their exit codes and their own figures."""

import subprocess
import sys
from collections.abc import Generator

from tests.attack.table import Row


def kills(points: int) -> Generator[Row]:
    """Processes that are killed at chosen moments, and servers and workers under load."""
    yield _row(
        "SIGKILL at every append and at random moments of a run",
        "byte for byte the undisturbed run, no recorded answer is asked again",
        "tests.crashes",
        *("--points", str(points)),
    )
    yield _row(
        "SIGKILL of servers and workers on one Redis, with 200 runs in the queue",
        "every run ends, nothing on record is paid twice, two workers do 1.7 times the work",
        "tests.long_run",
        *("--silence", "3"),
    )


def _row(fired: str, must: str, module: str, *options: str) -> Row:
    ended = subprocess.run(
        [sys.executable, "-m", module, *options], capture_output=True, text=True, check=False
    )
    lines = ended.stdout.splitlines() or [ended.stderr.strip()[-300:] or "it said nothing"]
    problems = [line.partition("PROBLEM: ")[2] for line in lines if "PROBLEM: " in line]
    measured = "; ".join((lines[-1], *problems))
    return Row(fired=fired, must=must, measured=measured, held=ended.returncode == 0)
