"""The time and memory for a document of a hundred pages: section by section, and by the editor."""

import json
import random
import re
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Mapping
from itertools import pairwise
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Literal

import anyio

from benchmarks.report import Figure, Report

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from sifaka.chain import Chain

How = Literal["sections", "editor"]
PAGES = (25, 50, 100)
PAGE = 3_000
"""Characters."""
RUNS = 3
GROWTH = 2.3
"""The factor that twice the pages may take."""
_SEED = 20_240_607
_PAGES_OF_A_CHAPTER = 5
_NOUNS = re.findall(
    r"\w+",
    "account archive battery bridge budget canal captain carrier circuit climate column company "
    "contract council county courier cylinder delegate document engine estate factory forest "
    "freight garden harbor inventory journal kitchen ledger lighthouse machine market member mill "
    "mountain office orchard parcel partner pipeline planet platform quarter railway receipt "
    "region report reservoir river schedule season signal station steamer storage supplier survey "
    "terminal ticket timber tower traffic tunnel valley vessel village warehouse weather",
)
_VERBS = ("carries", "crosses", "describes", "feeds", "follows", "joins", "opens", "serves")


def measure() -> Report:
    """Runs in processes of their own, as memory is told of a whole process."""
    figures: list[Figure] = []
    for how, name in _HOWS.items():
        seconds = {n: median(_in_a_process(how, n)[0] for _ in range(RUNS)) for n in PAGES}
        memory = {n: _in_a_process(how, n, traced=True) for n in PAGES}
        allocated = {n: memory[n][1] for n in PAGES}
        figures += [Figure(what=f"{name}, {n} pages", value=seconds[n], unit="s") for n in PAGES]
        figures += _growth(f"{name}, time", seconds)
        figures += [
            Figure(what=f"{name}, allocated, {n} pages", value=allocated[n], unit="MB")
            for n in PAGES
        ]
        figures += _growth(f"{name}, allocated", allocated)
        resident = max(_in_a_process(how, n)[2] for n in PAGES)
        figures.append(Figure(what=f"{name}, resident at most", value=resident, unit="MB"))
    return Report(
        title="long_document: a document of 100 pages",
        method=f"Pages of {PAGE:,} characters from a seeded vocabulary, each under a heading and "
        f"{_PAGES_OF_A_CHAPTER} under that of a chapter, with a repeated word in every "
        "tenth sentence. By sections: a run with a task, a model that answers at once and mends "
        "those words, and the critic `self_refine`, which asks the same model. By the editor: a "
        "run without any model, with the critic `lint`, which checks no grammar from 200,000 "
        "characters on. Both in memory, the changes from version 0 included. Each run in a new "
        "process, after one on a text of two sentences. Time is that of the processor, median of "
        f"{RUNS}; allocated is the most that Python had allocated at once in a run with "
        "tracemalloc, what was before it left out; resident is that of the whole process, its "
        "libraries included.",
        figures=tuple(figures),
    )


def _growth(name: str, found: Mapping[int, float]) -> list[Figure]:
    return [
        Figure(
            what=f"{name}, {more} / {n} pages", value=found[more] / found[n], unit="x", most=GROWTH
        )
        for n, more in pairwise(PAGES)
    ]


_HOWS: dict[How, str] = {"sections": "by sections", "editor": "by the editor"}


def document(pages: int) -> str:
    """A text of so many pages, the same each time."""
    chance = random.Random(_SEED)  # noqa: S311 - a text, not a secret
    parts: list[str] = []
    for page in range(pages):
        if page % _PAGES_OF_A_CHAPTER == 0:
            parts.append(f"# Chapter {page // _PAGES_OF_A_CHAPTER + 1}\n\n")
        parts.append(f"## Page {page + 1}\n\n")
        size = 0
        while size < PAGE:
            parts.append(" ".join(_sentence(chance) for _ in range(5)) + "\n\n")
            size += len(parts[-1])
    return "".join(parts)


def _sentence(chance: random.Random) -> str:
    one, other, last = (chance.choice(_NOUNS) for _ in range(3))
    again = "the the" if chance.random() < 0.1 else "the"
    return f"The {one} {chance.choice(_VERBS)} {again} {other} of the {last}."


def _in_a_process(how: How, pages: int, *, traced: bool = False) -> tuple[float, float, float]:
    """Seconds, megabytes allocated at most if they were traced, and resident at most."""
    command = [sys.executable, "-m", "benchmarks.long_document", how, str(pages)]
    asked = [*command, "traced"] if traced else command
    told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    seconds, allocated, resident = json.loads(told)
    return seconds, allocated, resident


def _chain(how: How) -> "Chain":
    from sifaka.chain import Chain

    if how == "editor":
        return Chain(model="editor")
    return Chain(model=_model(), critics=["self_refine"], max_iterations=1)


def _model() -> "FunctionModel":
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    shown = re.compile(r"<text id=(\w+)>\n(.*)\n</text id=\1>", re.DOTALL)

    def answer(messages: "list[ModelMessage]", info: "AgentInfo") -> "ModelResponse":
        match = shown.search("".join(str(getattr(p, "content", "")) for p in messages[-1].parts))
        text = match.group(2) if match else ""
        if not info.output_tools:
            return ModelResponse([TextPart(text.replace("the the", "the"))])
        opinion: dict[str, object] = {"verdict": "accept"}
        if (at := text.find("the the")) >= 0:
            issue = {"quote": text[at : at + 20], "message": "says a word twice"}
            opinion = {"verdict": "revise", "issues": [issue]}
        return ModelResponse([ToolCallPart(info.output_tools[0].name, opinion)])

    return FunctionModel(answer, model_name="at-once")


async def _run(how: How, text: str) -> int:
    task = "Say no word twice." if how == "sections" else ""
    result = await _chain(how).run(task, text=text)
    assert result.status == "done", result.error
    assert result.text == text.replace("the the", "the")
    return len(result.diff) + len(result.issues)


def _main(how: How, pages: int, *, traced: bool) -> None:
    anyio.run(_run, how, "The ship sails the the sea. It is blue.")
    text = document(pages)
    if traced:
        tracemalloc.start()
    started = process_time()
    anyio.run(_run, how, text)
    seconds = process_time() - started
    allocated = tracemalloc.get_traced_memory()[1] if traced else 0
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([seconds, allocated / 1e6, resident * 1024 / 1e6]))


if __name__ == "__main__":
    _main(
        "editor" if sys.argv[1] == "editor" else "sections",
        int(sys.argv[2]),
        traced="traced" in sys.argv[3:],
    )
