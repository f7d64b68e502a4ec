"""The time that the work without a model takes."""

import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

from benchmarks.report import Figure, Report
from sifaka.editor import edit, lint
from sifaka_mcp.cli.improve import TEXT as ANNOUNCEMENT

RUNS = 5
LONG = 900_000
"""Characters."""
IMPROVE = [sys.executable, "-m", "sifaka_mcp.cli", "improve", str(ANNOUNCEMENT)]
RULES = ["--store", "memory:", "--max-words", "330", "--forbid", "world-class=reliable"]


def measure() -> Report:
    """The command as a whole process, and the editor's parts in this one."""
    text = ANNOUNCEMENT.read_text(encoding="utf-8")
    command = [_seconds_of_command() for _ in range(RUNS)]
    lint(text)
    # Another word each time, so that the spelling is really looked up.
    lints = [_seconds(lint, f"{text}\n\nIt was {'really' * (n + 2)} good.") for n in range(RUNS)]
    long = f"{text}\n\n" * (LONG // len(text))
    return Report(
        title="editor: the work that needs no model",
        method=f"The text of `make demo`, {len(text.split())} words with some 30 mistakes. "
        f"`sifaka improve` as a new process, median of {RUNS}; `lint` and `edit` in a process that "
        f"is warm, median of {RUNS} and once. The long text is the same one repeated.",
        figures=(
            Figure(what="sifaka improve, whole command", value=median(command), unit="s", most=2),
            Figure(what="lint, warm", value=median(lints) * 1000, unit="ms"),
            Figure(what="edit of 900,000 characters", value=_seconds(edit, long), unit="s"),
        ),
    )


def _seconds_of_command() -> float:
    started = perf_counter()
    subprocess.run([*IMPROVE, *RULES], stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - started


def _seconds(work: Callable[[str], object], text: str) -> float:
    started = perf_counter()
    work(text)
    return perf_counter() - started
