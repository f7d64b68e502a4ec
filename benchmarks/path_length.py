"""How many of our functions one call passes, and how deep the tool's function stands.

`python -m benchmarks.path_length [--list]` counts in this process and prints JSON, and the
functions of the tool's call with the number of calls of each.
"""

import argparse
import importlib
import inspect
import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import anyio

import sifaka
import sifaka_mcp
from benchmarks.report import Figure, Report
from benchmarks.servers import ROOT
from sifaka.record.run import Run

TEXT = "The meeting is on Monday."
TEXTS = tuple(f"The the meeting is on Monday. We dont have {n} rooms." for n in (3, 4))
_LIBRARY = f"{Path(sifaka.__file__).parent}/"
_OURS = (_LIBRARY, f"{Path(sifaka_mcp.__file__).parent}/")
_TOOL = "sifaka_mcp/tools/improve.py"
_BEGINNING = 0
"""The argument of the instruction RESUME where a function begins; others go on after a wait."""


class Passed:
    """The functions that were called, in any thread, while it was counting."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self._folders = folders
        self._counting = False
        self.calls: Counter[CodeType] = Counter()
        self.deepest: Counter[str] = Counter()
        """By the name of a tool's function, the frames of ours that stood before it."""

    @contextmanager
    def hooked(self) -> Generator[None]:
        """Threads that begin within it can be counted."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def counting(self) -> Generator[None]:
        """What is called within it is counted."""
        self._counting = True
        try:
            yield
        finally:
            self._counting = False

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not self._counting or event != "call" or not code.co_filename.startswith(self._folders):
            return
        if code.co_code[frame.f_lasti + 1] == _BEGINNING:
            self.calls[code] += 1
            if code.co_filename.endswith(_TOOL) and code.co_name == "improve_text":
                self.deepest[code.co_name] = self._frames_before(frame)

    def _frames_before(self, frame: FrameType) -> int:
        count, outer = 0, frame.f_back
        while outer is not None:
            count += outer.f_code.co_filename.startswith(self._folders)
            outer = outer.f_back
        return count

    def functions(self) -> Mapping[CodeType, int]:
        """Functions, methods, properties and lambdas, with their calls.

        Expressions inside a function (comprehensions and generator expressions) are part of it, as
        in Python from 3.12, and bodies of modules and classes are no functions.
        """
        return {
            code: count
            for code, count in self.calls.items()
            if code.co_flags & inspect.CO_OPTIMIZED
            and (not code.co_name.startswith("<") or code.co_name == "<lambda>")
        }


async def _of_the_library(asked: Counter[str]) -> tuple[Passed, str]:
    class Counting(sifaka.MemoryStorage):
        async def load(self, run_id: str) -> Run:
            asked["loads"] += 1
            return await super().load(run_id)

        async def claim(self, run_id: str) -> int:
            asked["claims"] += 1
            return await super().claim(run_id)

    for module in ("sifaka.tasks", "sifaka.chain", "sifaka.editor"):
        importlib.import_module(module)  # functions that run on import are not the call's
    refine, passed = sifaka.improve, Passed((_LIBRARY,))
    with passed.hooked(), passed.counting():
        result = await refine(TEXT, store=Counting())
    assert result.status == "done", result
    return passed, result.text


async def _of_the_tool() -> Passed:
    from mcp import Client

    from sifaka_mcp.app import SifakaServer
    from sifaka_mcp.settings import Settings

    passed = Passed(_OURS)
    with tempfile.TemporaryDirectory() as folder, passed.hooked():
        settings = Settings(store=f"sqlite:///{folder}/thoughts.db")
        server = SifakaServer(settings)
        async with Client(server) as client:
            first, second = ({"text": text, "model": "editor"} for text in TEXTS)
            await client.call_tool("improve_text", first)
            await client.list_prompts()  # what is built beside the first call is not the second's
            assert server.state is not None
            await server.state.store.catch_up()
            with passed.counting():
                answered = await client.call_tool("improve_text", second)
    assert not answered.is_error, answered
    return passed


def _is_of_the_editor(code: CodeType) -> bool:
    """True for its functions, and for those that read its tables."""
    return "/editor/" in code.co_filename or code.co_filename.endswith("/text/tables.py")


def counts() -> tuple[dict[str, Any], Mapping[CodeType, int]]:
    """The figures of both calls, and the functions of the tool's."""
    asked: Counter[str] = Counter()
    library, text = anyio.run(_of_the_library, asked)
    tool = anyio.run(_of_the_tool)
    functions, passed = library.functions(), tool.functions()
    return {
        "text": text,
        "functions": len(functions),
        "of the editor": sum(_is_of_the_editor(code) for code in functions),
        "loads": asked["loads"],
        "claims": asked["claims"],
        "tool": {
            "calls": sum(passed.values()),
            "functions": len(passed),
            "files": len({code.co_filename for code in passed}),
            "frames": tool.deepest["improve_text"],
        },
    }, passed


def counted() -> dict[str, Any]:
    """The figures, from a process in which nothing was called before."""
    command = [sys.executable, "-m", "benchmarks.path_length"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def measure() -> Report:
    """The calls and the functions that they pass."""
    figures = counted()
    tool = figures["tool"]
    return Report(
        title="path_length: how much of our code a call passes",
        method="Each function, method, property and lambda of ours that is entered, in any thread; "
        "going on after a wait is no call. `improve` in a new process with a text of 25 characters "
        "and the settings as they are; then a second improve_text with model=editor and SQLite "
        "through mcp.Client in the same process, with two mistakes to mend, once all that the "
        "first one has put off is done.",
        figures=(
            Figure(what="functions of one sifaka.improve", value=figures["functions"], unit=""),
            Figure(what="calls of one improve_text", value=tool["calls"], unit="", most=1_000),
            Figure(what="functions of it", value=tool["functions"], unit="", most=280),
            Figure(what="files of it", value=tool["files"], unit=""),
            Figure(what="frames before its function", value=tool["frames"], unit="", most=5),
        ),
    )


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.path_length", description=__doc__)
    parser.add_argument("--list", action="store_true", help="also the functions and their calls")
    options = parser.parse_args()
    figures, functions = counts()
    print(json.dumps(figures))
    for code, count in sorted(functions.items(), key=lambda each: -each[1]):
        if options.list:
            print(f"{count:>5} {Path(code.co_filename).relative_to(ROOT)}: {code.co_qualname}")


if __name__ == "__main__":
    main()
