"""The time of `sifaka check` on a thousand files."""

import ctypes
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from benchmarks.report import Figure, Report

FILES = 1_000
SIZE = 5_000
"""Characters of a file."""
SECONDS = 15.0
"""The goal for all files on two cores."""
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_PR_SET_CHILD_SUBREAPER = 36
_SEED = 20_251_122
_DOCUMENTS = Path(__file__).parents[1] / "docs"
_COMMAND = [sys.executable, "-m", "sifaka_mcp.cli", "check", "--no-config", "--exit-zero"]


def measure() -> Report:
    """The command as a whole process, with all rules and without grammar, and on one file."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(_texts()):
            (Path(folder) / f"{number:04}.md").write_text(text, encoding="utf-8")
        wall, busy = _seconds(folder, "--jobs", "2")
        wall_without, busy_without = _seconds(folder, "--jobs", "2", "--ignore", "grammar")
        wall_alone, busy_alone = _seconds(str(Path(folder) / "0000.md"))
    return Report(
        title="check_files: a thousand files of 5 KB, all different",
        method=f"{FILES} files of {SIZE:,} characters, each of paragraphs of this project's "
        "documents in another order, every sentence with a number of its own, so that no cache "
        "knows it. `sifaka check --jobs 2` as a new process, once with the default rules, once "
        "without those of Harper, and on one file. The time of the processors is that of all of "
        "its processes.",
        figures=(
            Figure(what="default rules", value=wall, unit="s", most=SECONDS),
            Figure(what="default rules, time of the processors", value=busy, unit="s"),
            Figure(what="without grammar", value=wall_without, unit="s", most=SECONDS),
            Figure(what="without grammar, time of the processors", value=busy_without, unit="s"),
            Figure(what="one file", value=wall_alone, unit="s"),
            Figure(what="one file, time of the processors", value=busy_alone, unit="s"),
        ),
    )


def _texts() -> Iterator[str]:
    chance = random.Random(_SEED)  # noqa: S311 - the same texts every time
    documents = [path.read_text(encoding="utf-8") for path in sorted(_DOCUMENTS.glob("*.md"))]
    prose = [_FENCE.sub("", document) for document in documents]
    paragraphs = [
        paragraph
        for document in prose
        for paragraph in document.split("\n\n")
        if len(paragraph) > 80 and not paragraph.lstrip().startswith(("|", "<"))
    ]
    for number in range(FILES):
        text = f"# File {number}\n"
        while len(text) < SIZE:
            own = re.sub(r"(?<=[a-z])\. ", f" in case {number}. ", chance.choice(paragraphs))
            text += f"\n{own}\n"
        yield text[:SIZE]


def _seconds(*arguments: str) -> tuple[float, float]:
    """The time of the command, and that of the processors in it and in its processes."""
    _adopt_orphans()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = perf_counter()
    subprocess.run([*_COMMAND, *arguments], stdout=subprocess.DEVNULL, check=True)
    wall = perf_counter() - started
    with suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, busy


def _adopt_orphans() -> None:
    """Have the processes that outlive the command counted as ours; on Linux alone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
