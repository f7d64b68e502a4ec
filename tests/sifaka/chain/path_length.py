"""`python -m tests.sifaka.chain.path_length [--list]`: how much code a call without a model passes.

A text of 25 characters goes through `sifaka.improve` with the settings as they are. Counted is each
function, method, property and lambda of `sifaka/` that is called, in any thread, once. Expressions
inside a function (comprehensions and generator expressions) are part of it, as in Python from 3.12;
`expressions` says how many more code objects Python 3.11 makes of them. Functions that only run
while modules are imported are left out: everything is imported before.

Prints JSON: `text`, `functions`, `expressions`, `files`, `loads` and `claims` of the run.
"""

import asyncio
import importlib
import inspect
import json
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType

import sifaka
from sifaka.record.run import Run

TEXT = "The meeting is on Monday."
_OURS = f"{Path(sifaka.__file__).parent}/"


_asked: Counter[str] = Counter()


class _Counting(sifaka.MemoryStorage):
    """A store that counts how often runs are loaded and claimed."""

    async def load(self, run_id: str) -> Run:
        _asked["loads"] += 1
        return await super().load(run_id)

    async def claim(self, run_id: str) -> int:
        _asked["claims"] += 1
        return await super().claim(run_id)


def measured() -> tuple[dict[str, object], Sequence[CodeType]]:
    """The figures, and the code that was passed."""
    for module in ("sifaka.tasks", "sifaka.chain", "sifaka.editor"):
        importlib.import_module(module)
    refine = sifaka.improve
    passed: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_OURS):
            passed[code] = None

    async def improve() -> str:
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            result = await refine(TEXT, store=_Counting())
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        assert result.status == "done", result
        return result.text

    text = asyncio.run(improve())
    # Bodies of modules and classes are no functions.
    functions = [code for code in passed if code.co_flags & inspect.CO_OPTIMIZED]
    own = [code for code in functions if not code.co_name.startswith("<")]
    lambdas = [code for code in functions if code.co_name == "<lambda>"]
    figures: dict[str, object] = {
        "text": text,
        "functions": len(own) + len(lambdas),
        "of the editor": sum("/editor/" in code.co_filename for code in own),
        "expressions": len(functions) - len(own) - len(lambdas),
        "files": len({code.co_filename for code in functions}),
        "loads": _asked["loads"],
        "claims": _asked["claims"],
    }
    return figures, [*own, *lambdas]


def main() -> None:
    """Do what the command line says."""
    figures, functions = measured()
    lines = [json.dumps(figures)]
    if "--list" in sys.argv:
        for code in sorted(functions, key=lambda code: (code.co_filename, code.co_firstlineno)):
            place = code.co_filename.removeprefix(_OURS)
            lines.append(f"{place}:{code.co_firstlineno} {code.co_qualname}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
