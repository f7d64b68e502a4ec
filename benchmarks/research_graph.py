"""The cost of an iteration of research besides the model, and the graph's share of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import anyio

from benchmarks.report import Figure, Report
from benchmarks.samples import percentile, prose
from sifaka import Chain
from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.entries import Researched
from sifaka.record.research_question import Inquiry
from sifaka.research.deep import DeepState, deep_graph
from sifaka.research.iterative import iterative_graph
from sifaka.research.state import LoopState
from sifaka.storage.protocol import Health

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.models.function import AgentInfo
    from pydantic_graph import Graph

    AnyGraph = Graph[Any, Any, Any, Any]

ITERATIONS = 20
BRANCHES = 6
SAMPLES = 10
ANSWER = 0.1
CALLS_IN_A_ROW = 4
"""Of an iteration: thinking, the gaps, the choice of searches, and the documents side by side."""
QUESTION = "When was the harbor tower built?"


def measure() -> Report:
    """Graphs alone, and whole iterations."""
    return anyio.run(_measure, backend_options={"use_uvloop": True})


async def _measure() -> Report:
    bare, fork, whole, slow = list[float](), list[float](), list[float](), list[float]()
    for _ in range(1 + SAMPLES):
        bare.append(await _bare_iteration())
        fork.append(await _bare_fork())
        whole += await _iterations(0.0, ITERATIONS)
    await _iterations(ANSWER, 2)
    slow += await _iterations(ANSWER, 5)
    graph, iteration = median(bare[1:]) * 1000, median(whole[ITERATIONS:]) * 1000
    return Report(
        title="research_graph: an iteration of research besides the model",
        method=f"Iterations of the graph `iterative` with nodes that do nothing ({ITERATIONS} a "
        f"run), the graph `deep` with {BRANCHES} branches that do nothing, and whole runs of "
        f"iterative research with {ITERATIONS} iterations: three agents, two searches of a source "
        "that answers at once and the verification of two new documents of 6 KB, each call "
        f"journaled, the store in memory. Median of {SAMPLES} runs after one to warm up. With a "
        f"model that takes {ANSWER * 1000:.0f} ms the ideal is {CALLS_IN_A_ROW} answers an "
        "iteration.",
        figures=(
            Figure(what="graph alone, an iteration of 5 nodes", value=graph, unit="ms"),
            Figure(
                what=f"graph alone, a fork of {BRANCHES}", value=median(fork[1:]) * 1000, unit="ms"
            ),
            Figure(what="iteration, model of no latency, p50", value=iteration, unit="ms"),
            Figure(
                what="iteration, p95", value=percentile(whole[ITERATIONS:], 95) * 1000, unit="ms"
            ),
            Figure(what="the graph's share of it", value=100 * graph / iteration, unit="%"),
            Figure(
                what=f"iteration, calls of {ANSWER * 1000:.0f} ms: wall against ideal",
                value=median(slow) / (CALLS_IN_A_ROW * ANSWER),
                unit="x",
                most=1.15,
            ),
        ),
    )


def _idle(
    graph: "Graph[Any, Any, Any, Any]", **outputs: Callable[[Any], Any]
) -> "Graph[Any, Any, Any, Any]":
    """The same graph with steps that only pass on their input, or give these outputs."""
    from pydantic_graph import Step

    def idling(node: Any) -> Any:
        if not isinstance(node, Step):
            return node
        node = cast("Step[Any, Any, Any, Any]", node)
        give = outputs.get(node.id)

        async def step(ctx: Any) -> Any:
            return ctx.inputs if give is None else give(ctx.inputs)

        return Step[Any, Any, Any, Any](id=node.id, call=step)

    return replace(graph, nodes={key: idling(node) for key, node in graph.nodes.items()})


async def _bare_iteration() -> float:
    def look_for_gaps(state: LoopState) -> LoopState:
        return state.adding(complete=state.now.number > ITERATIONS)

    graph = _idle(
        iterative_graph(), execute_tools=LoopState.next_round, knowledge_gap=look_for_gaps
    )
    started = perf_counter()
    await graph.run(deps=None, inputs=LoopState())
    return (perf_counter() - started) / ITERATIONS


def _branches(given: object) -> Sequence[int]:
    del given
    return range(BRANCHES)


async def _bare_fork() -> float:
    graph = _idle(deep_graph(), store_plan=_branches)
    started = perf_counter()
    await graph.run(state=DeepState(anyio.CapacityLimiter(1)), deps=None, inputs=None)
    return perf_counter() - started


async def _iterations(seconds: float, count: int) -> list[float]:
    """Seconds of each iteration of one run, from one on record to the next."""
    chain = Chain(
        model=_model(seconds),
        adapters=Adapters([_AtOnce()]),
        inquiry=Inquiry(mode="iterative", max_iterations=count),
        critics=[],
        max_iterations=0,
    )
    marks = list[float]()
    async for event in chain.stream(QUESTION):
        if isinstance(event.entry, Researched) and event.research in {"section_started", "looping"}:
            marks.append(perf_counter())
    assert len(marks) == count + 1, "the loop ended early"
    return [later - earlier for earlier, later in pairwise(marks)]


class _AtOnce:
    """A source with a new document for each search."""

    name = "at_once"
    place = "memory"

    def __init__(self) -> None:
        self._made = 0

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters
    ) -> Sequence[SourceDocument]:
        del limit, filters
        self._made += 1
        url = f"https://example.org/{self._made}"
        text = f"{prose(1000)}\nThe harbor tower was built in 1990."
        return [SourceDocument(text=text, title=query, url=url, adapter=self.name)]

    async def health(self) -> Health:
        return Health(part=self.place, works=True, found="documents")

    async def aclose(self) -> None:
        pass


def _model(seconds: float) -> "Model":
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    quote = "The harbor tower was built in 1990"
    judged = [{"criterion": each, "judgement": "support", "quotes": [quote]}
              for each in ("question", "gap")]  # fmt: skip
    answers: dict[str, dict[str, Any]] = {
        "observations": {"observations": "The year is known, the month is not."},
        "gaps": {"research_complete": False, "gaps": ["In which month was it opened?"]},
        "tasks": {"tasks": [{"query": "harbor tower opening"}, {"query": "harbor tower month"}]},
        "judgements": {"judgements": judged},
        "text": {"text": "It was built in 1990 [1]."},
    }

    async def answer(messages: "list[ModelMessage]", info: "AgentInfo") -> "ModelResponse":
        del messages
        await anyio.sleep(seconds)
        fields = info.output_tools[0].parameters_json_schema["properties"]
        said = next(each for field, each in answers.items() if field in fields)
        return ModelResponse(parts=[ToolCallPart("answer", said)])

    return FunctionModel(answer, model_name="at_once")
