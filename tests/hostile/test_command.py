"""The commands take seconds of processor time for any text of a megabyte."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import DEVNULL, Popen

import pytest

from tests.hostile.texts import numbered, repeated
from tests.stubs.cost import slowness

pytestmark = pytest.mark.hostile

SIZE = 1_000_000
GOAL = 10.0
"""Seconds of processor time, of the command and of the processes that it starts, on the machine
that the goal was set on; its processors change their speed by half from one hour to the next."""


def paired(use: str, definition: str) -> Callable[[int], str]:
    """Uses, and behind them a definition for each."""

    def made(size: int) -> str:
        count = size // len((use + definition).format(10_000, 10_000))
        numbers = range(10_000, 10_000 + count)
        return "".join(map(use.format, numbers)) + "\n\n" + "".join(map(definition.format, numbers))

    return made


TEXTS: Mapping[str, Callable[[int], str]] = {
    "footnotes": numbered("Word teh firm has[^{0}].\n\n[^{0}]: a text\n\n"),
    "footnotes at the end": paired("It have a note[^{0}].\n\n", "[^{0}]: The note.\n\n"),
    "reference links": paired("See [the firm][{0}] now, he go.\n\n", "[{0}]: http://a.b/{0}\n"),
    "nested quotes": numbered("> The first {0}.\n>> The second of it.\n>>> teh third.\n\n"),
    "items with links": numbered("- Item [of teh firm](http://a.b/{0}) is here.\n"),
    "a table": lambda size: (
        "| a | b |\n|---|---|\n" + numbered("| {0} | teh cat is |\n")(size - 20)
    ),
    "comments": numbered("<!-- comment {0} -->\n\nIt is teh text of it.\n\n"),
    "headings": numbered("## Head {0}\n\nThe men of teh firm has it.\n\n"),
    "fences": numbered("```\ncode {0}\n```\n\nThe men of teh firm has it.\n\n"),
    "mistakes": repeated("I has teh apple of there, and and he go in order to eat it.\n\n"),
    "open brackets": repeated("["),
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("command", ["improve", "check"])
@pytest.mark.timeout(300)
def test_a_megabyte_takes_a_command_seconds(command: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text(TEXTS[kind](SIZE), encoding="utf-8")
    # What is slow is slow each time.
    tries: list[tuple[float, float]] = []
    while len(tries) < 3 and not any(taken < GOAL * slow for taken, slow in tries):
        before = slowness()
        taken = seconds([command, "text.md"], tmp_path)
        tries.append((taken, max(before, slowness())))
    assert any(taken < GOAL * slow for taken, slow in tries), tries


def seconds(arguments: list[str], folder: Path) -> float:
    """The processor time of a command, with that of the processes that it kills when it ends.

    Those are never waited for by it, so a process between adopts them.
    """
    read, write = os.pipe()
    program = [sys.executable, "-c", _ADOPT, str(write), sys.executable, "-m", "sifaka_mcp.cli"]
    with Popen(
        [*program, *arguments],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        pass_fds=[write],
        stdout=DEVNULL,
        stderr=DEVNULL,
    ):
        os.close(write)
        with os.fdopen(read) as told:
            code, taken = told.read().split()
    assert code in {"0", "1", "2"}
    return float(taken)


_ADOPT = """
import ctypes, os, resource, subprocess, sys
PR_SET_CHILD_SUBREAPER = 36
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
code = subprocess.call(sys.argv[2:])
try:
    while True:
        os.waitpid(-1, 0)
except ChildProcessError:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
os.write(int(sys.argv[1]), f"{code} {used.ru_utime + used.ru_stime}".encode())
"""
